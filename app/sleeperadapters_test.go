package app_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// sleeperAdapters is sleeperWorld with two adapters; what stands for sleep is added to its section.
func sleeperAdapters(sleep string) string {
	return strings.NewReplacer("    tokenizer: builtin", "    tokenizer: builtin\n"+
		"    adapters: [{name: a, path: /a, replicas: 1}, {name: b, path: /b, replicas: 1}]",
		"sleep: {hold: 30s", "sleep: {hold: 30s"+sleep).Replace(sleeperWorld)
}

func adapterSleeper(loading time.Duration) emulator.Config {
	e := sleeperEngine("debug-0")
	e.AdapterSlots, e.AdapterLoad = 4, loading
	return e
}

// lists reports whether an engine says that it has an adapter.
func (b *bubble) lists(engine, adapter string) bool {
	return strings.Contains(b.Read("http://"+engine+"/v1/models"), `"id":"`+adapter+`"`)
}

func briefFor(adapter string) string {
	return strings.Replace(brief(1), `"debug"`, `"debug:`+adapter+`"`, 1)
}

// An engine that sleeps is not told to load an adapter: the memory that vLLM copies it to is not there, and it dies of
// that. It is told once it is awake.
func TestNothingIsLoadedAtASleeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{adapterSleeper(time.Second)})
		b.Serve(sleeperAdapters(""))
		time.Sleep(20 * time.Second)
		if b.lists("debug-0", "a") || b.lists("debug-0", "b") {
			t.Error("an adapter was loaded while the engine slept")
		}
		if o := b.outcome(t.Context(), briefFor("a")); o.status != 200 || b.woken("debug-0") != 1 {
			t.Errorf("%+v, woken %d times", o, b.woken("debug-0"))
		}
		time.Sleep(3 * time.Second)
		if !b.lists("debug-0", "a") || !b.lists("debug-0", "b") {
			t.Error("they are not loaded now that it is awake")
		}
	})
}

// A replica that is idle is not put to sleep while its engine loads an adapter.
func TestALoadIsLetEndBeforeAReplicaSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := adapterSleeper(20 * time.Second)
		e.Asleep = false
		b := newBubble(t, []emulator.Config{e})
		b.Serve(sleeperAdapters(", after: 2s"))
		sleeps := func() bool { return strings.Contains(b.Read("http://debug-0/is_sleeping"), "true") }
		for range 30 {
			time.Sleep(time.Second)
			if sleeps() && !b.lists("debug-0", "a") {
				t.Fatal("it was put to sleep while it loaded an adapter")
			}
		}
		time.Sleep(30 * time.Second)
		if !sleeps() || !b.lists("debug-0", "b") {
			t.Error("it does not sleep once both are loaded")
		}
	})
}

// Where an engine is put to sleep by others, what waits there for an adapter is held, and wakes it.
func TestWhatWaitsForAnAdapterAtASleeperWakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := adapterSleeper(10 * time.Second)
		e.Asleep, e.LoadTime = false, time.Second
		b := newBubble(t, []emulator.Config{e})
		b.Serve(sleeperAdapters(""))
		time.Sleep(time.Second) // it loads one of them
		first := make(chan outcome, 2)
		for _, adapter := range []string{"a", "b"} {
			go func() { first <- b.outcome(t.Context(), briefFor(adapter)) }()
		}
		time.Sleep(time.Second)
		b.tell("http://debug-0/sleep?level=1")
		time.Sleep(5 * time.Second) // one waits for the load that is under way, the other behind it
		if n := b.woken("debug-0"); n != 1 {
			t.Errorf("woken %d times", n)
		}
		for range 2 {
			if o := <-first; o.status != 200 {
				t.Errorf("%+v", o)
			}
		}
		if !b.Quiet() {
			t.Error("something is held")
		}
	})
}
