package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
	"octet/routing/index"
)

// Other parameters count for breakers that are closed and for those that are not; the same ones change nothing.
func TestAFleetIsHeldToOtherTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := fleet.Terms{Breaker: fleet.Breaker{Failures: 3, OpenFor: time.Hour, MaxEjected: 1}}
		f, rs := filled(t, 4, fleet.WithTerms(fleet.Terms{Breaker: first.Breaker}))
		for _, r := range rs[1:3] {
			for range 3 {
				fail(t, r)
			}
		}
		fail(t, rs[0])
		fail(t, rs[0])
		if f.Reconfigure(first); f.Snapshot("debug").Tripped() != index.HostSet(1, 2) {
			t.Fatalf("the same terms: %v have tripped", f.Snapshot("debug").Tripped())
		}
		if fail(t, rs[0]); rs[0].State() != "open" {
			t.Error("the same terms have it count anew")
		}
		before, err := rs[3].Take()
		if err != nil {
			t.Fatal(err)
		}
		f.Reconfigure(fleet.Terms{Breaker: fleet.Breaker{Failures: 1, OpenFor: time.Second, MaxEjected: 0.5}})
		if f.Snapshot("debug").Tripped() != index.HostSet(1, 2) || rs[1].State() != "open" {
			t.Errorf("half may be given up, and %v are", f.Snapshot("debug").Tripped())
		}
		if before.Settle(fleet.Failed); rs[3].State() != "closed" {
			t.Error("a request that began before counts")
		}
		time.Sleep(time.Second + time.Millisecond) // not an hour
		settle(t, rs[1], fleet.Succeeded)
		settle(t, rs[2], fleet.Succeeded)
		if f.Snapshot("debug").Tripped().Count() != 0 {
			t.Errorf("%v have tripped", f.Snapshot("debug").Tripped())
		}
		if fail(t, rs[3]); rs[3].State() != "open" {
			t.Error("one failure is enough by now")
		}
		added := put(t, f, spec("debug", 9))
		if fail(t, added); added.State() != "open" {
			t.Error("the terms do not count for one that has joined since")
		}
	})
}

// What an engine's announcement and its deaths are held to changes with the terms as well.
func TestHoldAndDeathsFollowTheTerms(t *testing.T) {
	f, rs := filled(t, 1)
	now := time.Now()
	f.Reconfigure(fleet.Terms{ShutdownHold: time.Minute, DeathInterval: time.Second})
	if rs[0].ShutDown(now.Add(-45*time.Second), now); !rs[0].Withdrawn() {
		t.Error("an announcement within the hold counts for nothing")
	}
	lost := func(began time.Time) bool {
		var flight fleet.Flight
		rs[0].Start(&flight, fleet.Demand{Prompt: 1}, began)
		defer flight.Land()
		struck, _ := flight.Struck(began.Add(time.Millisecond))
		return struck
	}
	answer := func(began time.Time) {
		var flight fleet.Flight
		rs[0].Start(&flight, fleet.Demand{Prompt: 1}, began)
		flight.FirstToken(began.Add(time.Millisecond))
		flight.Land()
	}
	if !lost(now) {
		t.Fatal("an engine that has answered nothing does not die")
	}
	answer(now.Add(time.Second))
	if !lost(now.Add(2 * time.Second)) {
		t.Error("a death after the interval does not count")
	}
}
