package fleet_test

import (
	"testing"
	"time"

	"octet/routing/fleet"
)

// What other gateways have at a replica counts wherever its own does, and no longer than they have it.
func TestWhatOtherGatewaysHaveCountsAsItsOwn(t *testing.T) {
	_, all := filled(t, 1)
	r := all[0]
	now := time.Now()
	picture := func() [8]int {
		l := r.Load()
		requests, _ := r.Queue()
		return [8]int{l.InFlight, l.Waiting, l.Backlog, l.Tokens, requests, r.InFlight(), r.Backlog(),
			int(r.Work(now).Tokens)}
	}
	alone := picture()
	f := r.Route(fleet.Demand{Prompt: 100, Uncached: 60})
	f.Begin(now)
	own := picture()
	r.Beside(fleet.Beside{Running: 2, Waiting: 3, Backlog: 500, Left: 400, Tokens: 900})
	if got, want := picture(), [8]int{3, 3, 560, 1000, 6, 3, 560, 460}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := r.Own(); got != (fleet.Beside{Running: 1, Backlog: 60, Tokens: 100}) {
		t.Errorf("its own is %+v", got)
	}
	r.Beside(fleet.Beside{})
	if got := picture(); got != own {
		t.Errorf("%v, want %v", got, own)
	}
	f.Land()
	if got := picture(); got != alone {
		t.Errorf("%v, want %v", got, alone)
	}
}

// What other gateways ask a replica for in between two looks shows, though there is nothing of it at either.
func TestWhatOthersHadInBetweenShows(t *testing.T) {
	_, all := filled(t, 1)
	r := all[0]
	before := r.OthersChanged()
	r.Beside(fleet.Beside{Running: 1})
	r.Beside(fleet.Beside{})
	if r.OthersChanged() == before || r.Others() != (fleet.Beside{}) {
		t.Errorf("%d changes, %+v", r.OthersChanged()-before, r.Others())
	}
}
