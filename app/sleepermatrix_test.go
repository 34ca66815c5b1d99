package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// twoSleepers is sleeperWorld with a second replica.
var twoSleepers = strings.Replace(sleeperWorld, "blocks: 512}", "blocks: 512}\n      - {name: debug-1, "+
	"url: \"http://debug-1\", engine: vllm, blocks: 512}", 1)

// At each phase of a wake-up anything may happen: each request ends once, whole or with an error that fits, nothing is
// held afterwards, and no engine is woken twice.
func TestWhateverHappensWhileRequestsAreHeld(t *testing.T) {
	type event struct {
		do  func(b *bubble, leave context.CancelFunc)
		may []string // codes in which requests may end; "" is whole
		by  time.Duration
	}
	reload := func(sets ...string) func(b *bubble, _ context.CancelFunc) {
		return func(b *bubble, _ context.CancelFunc) {
			if err := b.App.Apply(context.Background(), b.Config(twoSleepers, sets...)); err != nil {
				b.T.Error(err)
			}
		}
	}
	events := map[string]event{
		"nothing": {func(*bubble, context.CancelFunc) {}, []string{""}, 15 * time.Second},
		"clients leave": {func(_ *bubble, leave context.CancelFunc) { leave() }, []string{"", "left"},
			15 * time.Second},
		"a reload": {reload(), []string{""}, 15 * time.Second},
		"a reload that changes the replicas": {reload("specialists[0].replicas[0].labels.zone=b",
			"specialists[0].replicas[1].labels.zone=b"), []string{""}, 16 * time.Second},
		"a shorter hold": {reload("specialists[0].sleep.hold=20s"), []string{""}, 15 * time.Second},
		"a drain": {func(b *bubble, _ context.CancelFunc) { b.Term() }, []string{"", "draining"},
			15 * time.Second},
		"the replica that wakes dies": {func(b *bubble, _ context.CancelFunc) {
			for _, name := range []string{"debug-0", "debug-1"} {
				if b.woken(name) > 0 {
					b.Engines[name].Listener.Close()
					return
				}
			}
		}, []string{"", "no_healthy_replica", "upstream_reset", "breaker_open"}, 32 * time.Second},
		"another wakes by itself": {func(b *bubble, _ context.CancelFunc) {
			for _, name := range []string{"debug-0", "debug-1"} {
				if b.woken(name) == 0 {
					go b.tell("http://" + name + "/wake_up")
				}
			}
		}, []string{""}, 15 * time.Second},
		"an operator drains all": {func(b *bubble, _ context.CancelFunc) {
			b.tell("http://admin/admin/drain/debug-0")
			b.tell("http://admin/admin/drain/debug-1")
		}, []string{"", "no_healthy_replica"}, 31 * time.Second},
	}
	for name, e := range events {
		for _, at := range []time.Duration{0, time.Second, 11900 * time.Millisecond, 12010 * time.Millisecond} {
			t.Run(fmt.Sprint(name, " at ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")})
					b.Serve(twoSleepers, "limits.drain=5s")
					time.Sleep(3 * time.Second)
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					var asking sync.WaitGroup
					for i := range 24 {
						asking.Go(func() {
							with := context.Background()
							if i%2 == 0 {
								with = ctx
							}
							o := b.outcome(with, brief(i), "X-Priority", fmt.Sprint(i%3))
							if !slices.Contains(e.may, o.code) || o.took > e.by {
								t.Errorf("%d: %+v", i, o)
							}
						})
					}
					time.Sleep(at)
					synctest.Wait()
					e.do(b, leave)
					asking.Wait()
					time.Sleep(15 * time.Second)
					for _, engine := range []string{"debug-0", "debug-1"} {
						if n := b.woken(engine); n > 1 {
							t.Errorf("%s was woken %d times", engine, n)
						}
					}
					q := b.App.Server().Runtime().Specialist("debug").Hold
					if err := q.Check(); err != nil || q.Len() != 0 {
						t.Errorf("%d are held: %v", q.Len(), err)
					}
					if !b.Quiet() {
						t.Error("something is held")
					}
				})
			})
		}
	}
}
