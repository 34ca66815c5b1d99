package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// reloaded puts twoSleepers in force again, with keys overridden.
func (b *bubble) reloaded(sets ...string) {
	b.T.Helper()
	if err := b.App.Apply(context.Background(), b.Config(twoSleepers, sets...)); err != nil {
		b.T.Fatal(err)
	}
}

// asksToWake returns how often engines were asked to wake, in vain or not.
func (b *bubble) asksToWake() (n int64) {
	for _, e := range b.Engines {
		n += e.Woken.Load()
	}
	return n
}

// changes are reloads that leave the wake-up under way as it is: sets of keys.
var changes = map[string][]string{
	"nothing":        nil,
	"the hold":       {"specialists[0].sleep.hold=25s"},
	"the queue":      {"specialists[0].scheduler.max_waiting=48", "specialists[0].scheduler.aging=1s"},
	"the replicas":   {"specialists[0].replicas[0].labels.zone=b", "specialists[0].replicas[1].labels.zone=b"},
	"another limit":  {"limits.idle_timeout=20s"},
	"when they rest": {"specialists[0].sleep.after=1h"},
}

// A configuration that comes while a replica wakes does not ask for another wake-up, and measures the whole of the one
// under way: what is refused meanwhile is told the time that is left.
func TestAReloadKeepsTheWakeUpUnderWay(t *testing.T) {
	for name, sets := range changes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")})
				b.Serve(twoSleepers)
				time.Sleep(3 * time.Second)
				var asking sync.WaitGroup
				asking.Go(func() {
					for i, o := range b.crowd(4) {
						if o.code != "" || o.took < loads || o.took > loads+time.Second {
							t.Errorf("%d: %+v", i, o)
						}
					}
				})
				for range 3 {
					time.Sleep(3 * time.Second)
					b.reloaded(sets...)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if n := b.asksToWake(); n != 1 {
					t.Errorf("engines were asked to wake %d times", n)
				}
				asking.Wait()
				took := b.Metric("http://admin", "octet_wake_seconds")
				woke := b.Metric("http://admin", "octet_wakeups_total", `result="woke"`)
				if took < 12 || took > 13 || woke != 1 {
					t.Errorf("%v wake-ups, which took %v s", woke, took)
				}
			})
		})
	}
}

// One program runs at a time over all configurations, and a pause after one that has failed is kept: a reload every
// second runs none before its time.
func TestAReloadKeepsTheProgramAndItsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")})
		var ran, running, most atomic.Int64
		b.RunProgram = func(ctx context.Context, _ string, _ []string) error {
			ran.Add(1)
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			select {
			case <-time.After(5 * time.Second):
				return errors.New("exit status 3")
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		sets := []string{"specialists[0].sleep.wake.command=/bin/wake", "specialists[0].sleep.hold=29s"}
		b.Serve(twoSleepers, sets...)
		time.Sleep(3 * time.Second)
		var asking sync.WaitGroup
		asking.Go(func() {
			for i, o := range b.crowd(4) {
				if o.code != "no_healthy_replica" || o.took != 29*time.Second {
					t.Errorf("%d: %+v", i, o)
				}
			}
		})
		for i := range 28 {
			time.Sleep(time.Second)
			b.reloaded(append(sets, fmt.Sprint("specialists[0].scheduler.max_waiting=", 60+i))...)
		}
		asking.Wait()
		// it fails after 5 s, pauses for 10 s, fails after 5 s, pauses for 20 s
		if ran.Load() != 2 || most.Load() != 1 {
			t.Errorf("it was run %d times, %d at a time", ran.Load(), most.Load())
		}
	})
}

// Requests that are held stay in one queue over all configurations: its bound counts those from before, the urgent go
// before them, and all are let in when a replica serves.
func TestAReloadKeepsTheQueueOfWhatIsHeld(t *testing.T) {
	for name, sets := range changes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sets := append([]string{"specialists[0].scheduler.max_waiting=8"}, sets...)
				if name == "the queue" {
					sets = []string{"specialists[0].scheduler.max_waiting=8", "specialists[0].scheduler.aging=1s"}
				}
				b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")})
				b.Serve(twoSleepers, "specialists[0].scheduler.max_waiting=8")
				time.Sleep(3 * time.Second)
				var asking sync.WaitGroup
				var before, after []outcome
				asking.Go(func() { before = b.crowd(6) })
				time.Sleep(time.Second)
				b.reloaded(sets...)
				hold := b.App.Server().Runtime().Specialist("debug").Hold
				if n := hold.Len(); n != 6 {
					t.Errorf("%d are held after the reload", n)
				}
				asking.Go(func() { after = b.crowd(4, "X-Priority", "10") })
				time.Sleep(time.Second)
				if n := b.Metric("http://admin", "octet_held_requests"); n != 8 {
					t.Errorf("%v are held, of 8 places", n)
				}
				b.reloaded(sets...)
				asking.Wait()
				full := 0
				for i, o := range append(before, after...) {
					if o.code == "queue_full" && i < len(before) {
						full++
					} else if o.code != "" || o.took > loads+time.Second {
						t.Errorf("%d: %+v", i, o)
					}
				}
				if full != 2 || hold != b.App.Server().Runtime().Specialist("debug").Hold {
					t.Errorf("%d gave their places up; or the queue is another", full)
				}
				if err := hold.Check(); err != nil || hold.Len()+hold.Passing() != 0 || !b.Quiet() {
					t.Errorf("%d are held, %d passes are out: %v", hold.Len(), hold.Passing(), err)
				}
			})
		})
	}
}

// Requests that are held for a specialist which a reload removes are told so at once, and nothing is woken for them.
// Those that the router sent there may come again, and go to another.
func TestAReloadThatRemovesASpecialistLetsNoRequestWaitForIt(t *testing.T) {
	for name, sets := range map[string][]string{
		"an engine wakes": nil,
		"a program wakes": {"specialists[0].sleep.wake.command=/bin/wake"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")})
				b.RunProgram = func(ctx context.Context, _ string, _ []string) error {
					<-ctx.Done()
					return ctx.Err()
				}
				b.Serve(twoSleepers, append(sets, "router.fallback=debug")...)
				time.Sleep(3 * time.Second)
				hold := b.App.Server().Runtime().Specialist("debug").Hold
				var asking sync.WaitGroup
				asking.Go(func() {
					for i, o := range b.crowd(9) {
						if o.status != 404 || o.code != "model_not_found" || o.took > 6*time.Second {
							t.Errorf("%d: %+v", i, o)
						}
					}
				})
				asking.Go(func() {
					o := b.outcome(context.Background(), strings.Replace(brief(0), "debug", "octet", 1))
					if o.status != 503 || o.code != "no_healthy_replica" || o.after != "1" || o.took > 6*time.Second {
						t.Errorf("one that was routed there: %+v", o)
					}
				})
				time.Sleep(5 * time.Second)
				asked := b.asksToWake()
				b.reloaded("specialists[0].name=other", "router.fallback=other")
				asking.Wait()
				if err := hold.Check(); err != nil || hold.Len()+hold.Passing() != 0 {
					t.Errorf("%d are held, %d passes are out: %v", hold.Len(), hold.Passing(), err)
				}
				if n := b.asksToWake(); n != asked {
					t.Errorf("engines were asked to wake %d times more", n-asked)
				}
				if !b.Quiet() {
					t.Error("something is held")
				}
			})
		})
	}
}
