package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
)

// probing is a replica whose breaker is half-open, and the permit of its only probe.
func probing(t *testing.T, b fleet.Breaker) (*fleet.Replica, fleet.Permit) {
	t.Helper()
	_, rs := filled(t, 2, fleet.WithTerms(fleet.Terms{Breaker: b}))
	r := rs[0]
	fail(t, r)
	time.Sleep(2 * time.Second)
	p, err := r.Take()
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

// A result is forgotten with its window only while the breaker is closed: a probe counts however long it takes.
func TestAProbeThatOutlastsTheWindowStillCloses(t *testing.T) {
	for name, window := range map[string]time.Duration{"no window": 0, "a short window": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, p := probing(t, fleet.Breaker{Failures: 1, OpenFor: time.Second, Window: window})
				time.Sleep(time.Hour)
				if r.State() != "half-open" || r.Admits() {
					t.Errorf("while the probe runs: %s, admits %t", r.State(), r.Admits())
				}
				if p.Settle(fleet.Succeeded); r.State() != "closed" {
					t.Errorf("after it: %s", r.State())
				}
			})
		})
	}
}

// A probe that is a long stream shows that its replica lives long before it ends.
func TestALongStreamClosesTheBreakerBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := probing(t, fleet.Breaker{Failures: 1, OpenFor: time.Second})
		time.Sleep(time.Minute) // in a queue: nothing is coming yet
		for range 10 {
			p.Lives(time.Now())
			if r.State() != "half-open" {
				t.Fatal("too soon")
			}
			time.Sleep(100 * time.Millisecond)
		}
		if p.Lives(time.Now()); r.State() != "closed" {
			t.Errorf("after a second of answer: %s", r.State())
		}
		p.Lives(time.Now())
		if p.Settle(fleet.Failed); r.State() != "closed" {
			t.Error("it has counted already")
		}
		usual, err := r.Take()
		if err != nil {
			t.Fatal(err)
		}
		usual.Lives(time.Now())
		time.Sleep(time.Hour)
		usual.Lives(time.Now())
		if usual.Settle(fleet.Failed); r.State() != "open" {
			t.Error("a request that was no probe counted before its end")
		}
		var none fleet.Permit
		none.Lives(time.Now())
	})
}
