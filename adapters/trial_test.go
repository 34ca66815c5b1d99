package adapters_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"octet/adapters"
)

// deadly begins the paths of adapters whose load kills the engine, which begins anew half a minute later.
const deadly = "/deadly"

// die has the engine of a host be gone for half a minute, with all that it has.
func (w *world) die(h uint16) {
	e := w.engines[h]
	e.down = true
	w.deaths++
	w.p.Down(h, w.now)
	w.after(30*time.Second, func() {
		e.down, e.loaded, e.users = false, map[string]string{}, map[string]int{}
		w.observe(h)
	})
}

func (w *world) down() (n int) {
	for _, e := range w.engines {
		if e.down {
			n++
		}
	}
	return n
}

// An adapter that is to be everywhere is loaded on one host first, and by the others together once that has it.
func TestTheFirstLoadIsATrial(t *testing.T) {
	r := adapters.Rules{}
	w := newWorld(t, 1, 8, 4, r)
	w.p.Configure(r, declare(1, 0), w.now)
	first := w.p.Step(w.now)
	if len(first) != 1 {
		t.Fatalf("%d hosts begin with what none has had", len(first))
	}
	for h := range w.engines {
		if got := w.p.StepHost(h, w.now); len(got) > 0 {
			t.Errorf("%v begins beside it", got)
		}
	}
	w.p.Loaded(first[0].Host, first[0].Name, adapters.Result{Listed: true}, w.now)
	if rest := w.p.Step(w.now); len(rest) != 7 {
		t.Errorf("%d of the others begin", len(rest))
	}
}

// A request that may go only to hosts which wait for the trial of its adapter waits with them: it is not refused. One
// that may go to any goes where the trial is.
func TestWhatMayGoOnlyElsewhereWaitsForTheTrial(t *testing.T) {
	r := adapters.Rules{}
	w := newWorld(t, 1, 3, 4, r)
	w.p.Configure(r, declare(1, 0), w.now)
	first := w.p.Step(w.now)[0]
	other := (first.Host + 1) % 3
	anywhere := func(uint16) bool { return true }
	if hosts, _ := w.p.Serving(first.Name, anywhere, w.now); !slices.Equal(hosts, []uint16{first.Host}) {
		t.Errorf("it goes to %v, the trial is at %d", hosts, first.Host)
	}
	hosts, _ := w.p.Serving(first.Name, func(h uint16) bool { return h == other }, w.now)
	if !slices.Equal(hosts, []uint16{other}) {
		t.Fatalf("it goes to %v", hosts)
	}
	waits, err := w.p.Claim(other, first.Name, 0, w.now)
	if err != nil {
		t.Fatal(err)
	}
	w.p.Loaded(first.Host, first.Name, adapters.Result{Listed: true}, w.now)
	if next := w.p.StepHost(other, w.now); len(next) != 1 {
		t.Fatalf("%v begins", next)
	}
	w.p.Loaded(other, first.Name, adapters.Result{Listed: true}, w.now)
	if held, err := waits.Outcome(); !held {
		t.Error("it has nothing", err)
	}
}

// The other hosts begin in the moment in which the trial ends.
func TestWhatWaitsForATrialGoesOnAsItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engines := []*stub{newStub(t, 4), newStub(t, 4), newStub(t, 4)}
		k := kept(t, adapters.Rules{}, declare(1, 0), engines...)
		k.Tick()
		time.Sleep(time.Millisecond) // two loads
		if c := k.Counts(); c.Loaded != 3 {
			t.Errorf("%d hosts have it", c.Loaded)
		}
		k.Close()
	})
}

// An adapter of which engines die takes one of them at a time and ever more seldom, wherever it is to be. Requests for
// it are told when to come again, and those for others are served.
func TestAnAdapterOfWhichEnginesDieTakesOneAtATime(t *testing.T) {
	for _, replicas := range []int{0, 1, 3} {
		r := adapters.Rules{}
		w := newWorld(t, 1, 6, 4, r)
		all := append(declare(2, 0), adapters.Adapter{Name: "bad", Path: deadly, Replicas: replicas})
		w.p.Configure(r, all, w.now)
		w.tick()
		for i := range 3600 {
			w.after(time.Duration(i)*time.Second, func() {
				w.ask("bad", time.Millisecond)
				if n := w.down(); n > 1 && i > 120 { // 5 and 10 s after the first are not yet 30
					t.Fatalf("%d engines are down after %d s", n, i)
				}
				if i < 10 {
					return
				}
				w.ask("a000", time.Millisecond)
			})
		}
		w.run(time.Hour + time.Minute)
		if w.deaths < 5 || w.deaths > 20 {
			t.Errorf("replicas %d: %d engines died of it", replicas, w.deaths)
		}
		if w.served != 3590 {
			t.Errorf("replicas %d: %d of 3590 others are served", replicas, w.served)
		}
	}
}

// What waits for an adapter at one host is refused as soon as the engine of another dies of it, and told when to come
// again, as are those that come meanwhile. It is loaded as before once one host has it.
func TestADeathIsToldToWhatWaitsElsewhere(t *testing.T) {
	r := adapters.Rules{Retry: 5 * time.Second}
	w := newWorld(t, 1, 3, 4, r)
	w.p.Configure(r, declare(1, 0), w.now)
	first := w.p.Step(w.now)[0]
	other := (first.Host + 1) % 3
	waits, err := w.p.Claim(other, first.Name, 0, w.now)
	if err != nil {
		t.Fatal(err)
	}
	died := adapters.Result{Err: fmt.Errorf("%w: gone", adapters.ErrDied), Unsure: true}
	w.p.Loaded(first.Host, first.Name, died, w.now)
	var why *adapters.Refusal
	if _, err := waits.Outcome(); !errors.As(err, &why) || why.Reason != adapters.ErrLoad || why.RetryAfter != r.Retry {
		t.Errorf("what waited is told %+v", err)
	}
	if _, err := w.p.Claim(other, first.Name, 0, w.now); !errors.As(err, &why) || why.RetryAfter != r.Retry {
		t.Errorf("what comes now is told %+v", err)
	}
	for _, v := range w.p.Views(other, w.now) {
		if v.RetryMs != r.Retry.Milliseconds() || v.Error == "" {
			t.Errorf("operators see %+v", v)
		}
	}
	if after, why := w.p.RetryAfter(first.Name, w.now); after != r.Retry || why == "" {
		t.Errorf("it may be had after %v, %q", after, why)
	}
	if got := w.p.Step(w.now.Add(r.Retry - 1)); len(got) > 0 {
		t.Errorf("%v begins too early", got)
	}
	w.now = w.now.Add(r.Retry)
	second := w.p.Step(w.now)
	if len(second) != 1 || second[0].Host == first.Host {
		t.Fatalf("%v begins", second)
	}
	w.p.Loaded(second[0].Host, first.Name, adapters.Result{Listed: true}, w.now)
	if got := w.p.Step(w.now); len(got) != 1 {
		t.Errorf("%v begins once one has it", got)
	}
}

// An engine that says that it is not well after a load that failed has died of it, whatever it says of the load itself.
func TestAnEngineThatIsNotWellAfterALoadHasDiedOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engines := []*stub{newStub(t, 4), newStub(t, 4), newStub(t, 4)}
		for _, e := range engines {
			e.dies.Store(true)
		}
		k := kept(t, adapters.Rules{}, declare(1, 0), engines...)
		k.Tick()
		synctest.Wait()
		k.Tick()
		synctest.Wait()
		dead := 0
		for _, e := range engines {
			if e.dead.Load() {
				dead++
			}
		}
		if why := k.Nowhere("a000", "a000"); dead != 1 || !errors.Is(why.Reason, adapters.ErrLoad) {
			t.Errorf("%d engines died; %v", dead, why)
		}
		k.Close()
	})
}

// An engine that cannot be connected to, as it is begun anew, has not died of the load: the next host loads at once.
func TestAnEngineThatIsAwayHasDiedOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engines := []*stub{newStub(t, 4), newStub(t, 4), newStub(t, 4)}
		k := kept(t, adapters.Rules{}, declare(1, 1), engines...)
		for _, e := range engines {
			e.away.Store(true)
		}
		k.Tick()
		synctest.Wait()
		for _, e := range engines {
			e.away.Store(false)
		}
		k.Tick()
		time.Sleep(time.Second)
		if c := k.Counts(); c.Loaded != 1 || c.Failures != 1 {
			t.Errorf("%+v", c)
		}
		k.Close()
	})
}

// A load of which its engine has died may have no answer. Once the engine says that it is not well it is over: what
// waits elsewhere is told, and the next host tries it when it may, not after the time of a load.
func TestALoadIsNotWaitedForWhereTheEngineIsNotWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engines := []*stub{newStub(t, 4), newStub(t, 4), newStub(t, 4)}
		for _, e := range engines {
			e.hangs.Store(true)
		}
		rules := adapters.Rules{Retry: 5 * time.Second, Timeout: time.Hour}
		k := kept(t, rules, declare(1, 0), engines...)
		k.Tick()
		synctest.Wait()
		for h, e := range engines {
			if v := k.Views(uint16(h)); len(v) > 0 && v[0].State == "loading" {
				e.dead.Store(true)
				k.Unwell(uint16(h))
			}
			e.hangs.Store(false)
		}
		synctest.Wait()
		if why := k.Nowhere("a000", "a000"); !errors.Is(why.Reason, adapters.ErrLoad) || why.RetryAfter != rules.Retry {
			t.Errorf("%v, again after %v", why, why.RetryAfter)
		}
		time.Sleep(rules.Retry)
		k.Tick()
		time.Sleep(time.Second)
		if c := k.Counts(); c.Loaded != 2 || c.Failures != 1 {
			t.Errorf("%+v", c)
		}
		k.Close()
	})
}
