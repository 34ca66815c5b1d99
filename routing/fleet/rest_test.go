package fleet_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/routing/fleet"
)

// A replica comes to rest only with nothing in flight, at the same URL before it either; at rest it is out of rotation.
func TestAReplicaRestsWhenItIsQuiet(t *testing.T) {
	f, rs := filled(t, 2)
	var flight fleet.Flight
	rs[0].Start(&flight, fleet.Demand{Prompt: 4}, time.Now())
	if rs[0].Rest() || rs[0].Resting() || !rs[0].Available() {
		t.Error("it rests with a request in flight")
	}
	s := *rs[0].Spec()
	s.MaxRunning++
	next := put(t, f, s)
	if next.Rest() || next.Resting() || !next.Available() {
		t.Error("it rests with a request in flight of the one before it")
	}
	flight.Land()
	waiting := next.Route(fleet.Demand{Prompt: 4})
	if next.Rest() {
		t.Error("it rests with a request on its way")
	}
	waiting.Land()
	if !next.Rest() || !rs[0].Resting() || next.Why() != "resting" || f.Snapshot("debug").Available().Has(0) {
		t.Errorf("it does not rest: %q", next.Why())
	}
	next.Rise()
	if next.Resting() || rs[0].Resting() || next.Why() != fleet.Serving {
		t.Errorf("it does not rise: %q", next.Why())
	}
}

// Of a request that comes and a rest that begins, one gives way: an engine is never put to sleep under a request.
func TestARequestAndARestSeeOneAnother(t *testing.T) {
	_, rs := filled(t, 1)
	r := rs[0]
	var asleep, served atomic.Int64
	var under atomic.Bool
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20000 {
				var flight fleet.Flight
				r.Start(&flight, fleet.Demand{Prompt: 1}, time.Time{})
				if !r.Resting() {
					served.Add(1)
					if under.Load() {
						t.Error("a request is served by an engine that sleeps")
					}
				}
				flight.Land()
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for {
		if r.Rest() {
			under.Store(true)
			asleep.Add(1)
			under.Store(false)
			r.Rise()
		}
		select {
		case <-done:
			t.Logf("%d rests, %d requests served", asleep.Load(), served.Load())
			return
		default:
		}
	}
}
