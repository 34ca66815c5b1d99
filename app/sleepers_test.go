package app_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// sleeperWorld has one specialist whose engine sleeps.
const sleeperWorld = `
auth: {anonymous: true}
fleet: {probe_interval: 1s}
limits: {max_queue_wait: 30s}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 4, max_waiting: 64}
    sleep: {hold: 30s}
    replicas:
      - {name: debug-0, url: "http://debug-0", engine: vllm, blocks: 512}
`

const loads = 12 * time.Second

func sleeperEngine(name string) emulator.Config {
	return emulator.Config{Name: name, Model: "debug", Blocks: 512, MaxRunning: 4, Step: 5 * time.Millisecond,
		LoadTime: loads, Asleep: true}
}

// outcome is what came of one request.
type outcome struct {
	status int
	code   string
	after  string // Retry-After
	took   time.Duration
	queued string
	id     string // of its receipt
}

// put asks once, with header pairs.
func (b *bubble) outcome(ctx context.Context, body string, headers ...string) outcome {
	began := time.Now()
	resp, err := b.Ask(ctx, http.MethodPost, "http://data/v1/chat/completions", body, headers...)
	if err != nil {
		return outcome{code: "left", took: time.Since(began)}
	}
	text := whole(b.T, resp)
	o := outcome{status: resp.StatusCode, after: resp.Header.Get("Retry-After"), took: time.Since(began),
		queued: resp.Header.Get("X-Queue-Ms"), id: resp.Header.Get("X-Receipt-Id")}
	if _, rest, ok := strings.Cut(text, `"code":"`); ok {
		o.code, _, _ = strings.Cut(rest, `"`)
	}
	return o
}

// crowd asks n times at once.
func (b *bubble) crowd(n int, headers ...string) []outcome {
	all := make([]outcome, n)
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() { all[i] = b.outcome(context.Background(), brief(i), headers...) })
	}
	asking.Wait()
	return all
}

func brief(i int) string {
	return fmt.Sprintf(`{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"question %d"}]}`, i)
}

// woken returns how often an engine was woken.
func (b *bubble) woken(engine string) int {
	_, n := b.Engines[engine].Sleeps()
	return n
}

// Requests for a specialist whose replicas sleep are held; it is woken once, all are answered when it is awake, and the
// receipt and the metrics say so. What is refused next is told the measured time.
func TestRequestsForASleeperAreHeldAndWakeItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
		b.Serve(sleeperWorld)
		time.Sleep(3 * time.Second)
		all := b.crowd(40)
		for i, o := range all {
			if o.status != 200 || o.took < loads || o.took > loads+3*time.Second {
				t.Errorf("%d: status %d %s after %v", i, o.status, o.code, o.took)
			}
		}
		if n := b.woken("debug-0"); n != 1 {
			t.Errorf("woken %d times", n)
		}
		r := b.Read("http://data/v1/receipts/" + all[0].id)
		if !strings.Contains(r, `"woke":true`) || !strings.Contains(r, `"held_ms":12`) {
			t.Errorf("the receipt does not say that it woke: %s", r)
		}
		for name, want := range map[string]float64{"octet_held_requests": 0, "octet_wakeups_total": 1} {
			if got := b.Metric("http://admin", name); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		if took := b.Metric("http://admin", "octet_wake_seconds"); took < 12 || took > 13 {
			t.Errorf("the measured time is %v s", took)
		}
		if !b.Quiet() {
			t.Error("something is held")
		}

		b.tell("http://debug-0/sleep?level=1")
		time.Sleep(3 * time.Second)
		short := b.outcome(t.Context(), brief(1), "X-Deadline-Ms", "5000")
		if short.code != "deadline_unachievable" || short.took > time.Second ||
			short.after != "13" && short.after != "14" {
			t.Errorf("a deadline before it is awake: %+v", short)
		}
		time.Sleep(loads + time.Second) // it was woken for it all the same
		if o := b.outcome(t.Context(), brief(2), "X-Deadline-Ms", "5000"); o.status != 200 {
			t.Errorf("it comes back: %+v", o)
		}
	})
}

// The first that waits is the only one that wakes; what waits for too long is refused with what is known.
func TestTheHoldIsBoundedByTimeAndPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
		b.Serve(sleeperWorld, "specialists[0].sleep.hold=5s", "specialists[0].scheduler.max_waiting=8")
		time.Sleep(3 * time.Second)
		codes := map[string]int{}
		for _, o := range b.crowd(20) {
			codes[o.code]++
			if o.code == "no_healthy_replica" && (o.status != 503 || o.after == "" || o.took != 5*time.Second) {
				t.Errorf("%+v", o)
			}
			if o.code == "queue_full" && (o.status != 429 || o.took > time.Second) {
				t.Errorf("%+v", o)
			}
		}
		if codes["no_healthy_replica"] != 8 || codes["queue_full"] != 12 || b.woken("debug-0") != 1 {
			t.Errorf("%v, woken %d times", codes, b.woken("debug-0"))
		}
	})
}

// Of those that are held, the more urgent take the places, and are let in first.
func TestPrioritiesHoldWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
		b.Serve(sleeperWorld, "specialists[0].scheduler.max_waiting=8", "specialists[0].scheduler.max_running=1")
		time.Sleep(3 * time.Second)
		var asking sync.WaitGroup
		var low, high []outcome
		asking.Go(func() { low = b.crowd(8) })
		time.Sleep(time.Second)
		asking.Go(func() { high = b.crowd(4, "X-Priority", "10") })
		asking.Wait()
		full, slowest := 0, time.Duration(0)
		for _, o := range high {
			slowest = max(slowest, o.took+time.Second)
			if o.status != 200 {
				t.Errorf("urgent: %+v", o)
			}
		}
		for _, o := range low {
			if o.code == "queue_full" {
				full++
			} else if o.status != 200 || o.took < slowest-300*time.Millisecond {
				t.Errorf("ahead of the urgent, at %v: %+v", slowest, o)
			}
		}
		if full != 4 {
			t.Errorf("%d of the less urgent left their places", full)
		}
	})
}

// What is no request of a client's wakes nothing, and 0 holds nothing.
func TestOnlyRequestsThatMayWaitWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
		b.Serve(sleeperWorld)
		time.Sleep(3 * time.Second)
		for range 5 {
			b.decided(brief(0))
		}
		time.Sleep(time.Minute)
		if n := b.woken("debug-0"); n != 0 {
			t.Errorf("woken %d times by decisions and probes", n)
		}
		if err := b.App.Apply(t.Context(), b.Config(sleeperWorld, "specialists[0].sleep.hold=0s")); err != nil {
			t.Fatal(err)
		}
		if o := b.outcome(t.Context(), brief(1)); o.status != 503 || o.took > time.Second || b.woken("debug-0") != 0 {
			t.Errorf("%+v, woken %d times", o, b.woken("debug-0"))
		}
	})
}

// A program is run once for all that wait, with the specialist's name. Where it fails or hangs it is run again after a
// pause; what waits is refused when the hold is over, and nothing is left behind.
func TestAProgramWakesReplicas(t *testing.T) {
	for name, c := range map[string]struct {
		runs func(ctx context.Context, b *bubble) error
		code string
		ran  int
	}{
		"it wakes the engine": {func(ctx context.Context, b *bubble) error {
			resp, err := b.Ask(ctx, http.MethodPost, "http://debug-0/wake_up", "")
			if err == nil {
				resp.Body.Close()
			}
			return err
		}, "", 1},
		"it fails": {func(context.Context, *bubble) error { return errors.New("exit status 3") },
			"no_healthy_replica", 3},
		"it hangs": {func(ctx context.Context, _ *bubble) error {
			<-ctx.Done()
			return ctx.Err()
		}, "no_healthy_replica", 2},
		"it does nothing": {func(context.Context, *bubble) error { return nil }, "no_healthy_replica", 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
				var ran atomic.Int64
				b.RunProgram = func(ctx context.Context, specialist string, argv []string) error {
					if ran.Add(1); specialist != "debug" || !slices.Equal(argv, []string{"/bin/wake", "a b"}) {
						t.Errorf("run for %s: %q", specialist, argv)
					}
					return c.runs(ctx, b)
				}
				b.Serve(sleeperWorld, `specialists[0].sleep.wake.command=/bin/wake 'a b'`,
					"specialists[0].sleep.wake.timeout=15s", "specialists[0].sleep.hold=31s")
				time.Sleep(3 * time.Second)
				for _, o := range b.crowd(10) {
					if o.code != c.code {
						t.Errorf("%+v", o)
					}
				}
				if n := int(ran.Load()); n != c.ran {
					t.Errorf("it was run %d times, want %d", n, c.ran)
				}
			})
		})
	}
}

// An idle replica is put to sleep and is woken by the next request; a busy one is not, and no request is lost to it.
func TestAnIdleReplicaSleepsAndNoRequestIsLost(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			engines := []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")}
			engines[0].Asleep, engines[1].Asleep = false, false
			engines[0].LoadTime, engines[1].LoadTime = 700*time.Millisecond, 700*time.Millisecond
			b := newBubble(t, engines)
			b.Serve(strings.Replace(sleeperWorld, "blocks: 512}", "blocks: 512}\n      - {name: debug-1, "+
				"url: \"http://debug-1\", engine: vllm, blocks: 512}", 1), "specialists[0].sleep.after=1s")
			dice := rand.New(rand.NewPCG(seed, 1))
			var asking sync.WaitGroup
			for i := range 300 {
				pause := time.Duration(dice.Float64()*dice.Float64()*float64(3*time.Second)) / 2
				if dice.IntN(3) > 0 {
					pause = time.Duration(dice.IntN(5)) * time.Millisecond
				}
				time.Sleep(pause)
				if i%90 == 60 { // a new generation, in which the replicas are others
					if err := b.App.Apply(t.Context(), b.Config(sleeperWorld, "specialists[0].sleep.after=1s",
						fmt.Sprint("specialists[0].scheduler.max_running=", 4+i%3))); err != nil {
						t.Error(err)
					}
				}
				asking.Go(func() {
					if o := b.outcome(t.Context(), brief(i)); o.status != 200 {
						t.Errorf("seed %d: %d: %+v", seed, i, o)
					}
				})
			}
			asking.Wait()
			sleeps, wakings := b.Engines["debug-0"].Sleeps()
			if sleeps < 3 || wakings < 3 {
				t.Errorf("seed %d: it slept %d times and was woken %d times", seed, sleeps, wakings)
			}
			if err := b.App.Apply(t.Context(), b.Config(sleeperWorld, "specialists[0].sleep.after=0s")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			if n := b.Metric("http://admin", "octet_held_requests"); n != 0 || !b.Quiet() {
				t.Errorf("%v are held, or something is", n)
			}
		})
	}
}

// A long stream keeps its engine awake, whatever becomes of the configuration meanwhile.
func TestAnEngineIsNotPutToSleepUnderAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := sleeperEngine("debug-0")
		engine.Asleep, engine.Step = false, time.Second
		b := newBubble(t, []emulator.Config{engine})
		b.Serve(sleeperWorld, "specialists[0].sleep.after=2s", "limits.idle_timeout=10s")
		time.Sleep(time.Second)
		var asking sync.WaitGroup
		asking.Go(func() {
			body := strings.Replace(brief(1), `"max_tokens":4`, `"stream":true,"max_tokens":20`, 1)
			if o := b.outcome(t.Context(), body); o.status != 200 || o.code != "" || o.took < 15*time.Second {
				t.Errorf("%+v", o)
			}
		})
		time.Sleep(3 * time.Second)
		if err := b.App.Apply(t.Context(), b.Config(sleeperWorld, "specialists[0].sleep.after=2s",
			"limits.idle_timeout=10s", "specialists[0].replicas[0].labels.zone=b")); err != nil {
			t.Fatal(err)
		}
		asking.Wait()
		if sleeps, _ := b.Engines["debug-0"].Sleeps(); sleeps != 0 {
			t.Error("it was put to sleep under a stream")
		}
		time.Sleep(6 * time.Second)
		if sleeps, _ := b.Engines["debug-0"].Sleeps(); sleeps != 1 {
			t.Errorf("it slept %d times when it was idle", sleeps)
		}
		if got := b.Metric("http://admin", "octet_sleeps_total"); got != 1 {
			t.Errorf("the metric says %v", got)
		}
	})
}
