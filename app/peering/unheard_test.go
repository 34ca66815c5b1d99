package peering

import (
	"testing"
	"time"

	"octet/routing/fleet"
	"octet/routing/peers"
)

// While the store is away a gateway that is not heard is taken to have as much at a replica as this one: once its lease
// is over, until the store is back, and not where the engine says that it runs this gateway's requests alone.
func TestGatewaysThatAreNotHeardAreTakenToHaveAsMuchAsThisOne(t *testing.T) {
	g, r := oneReplica(t)
	g.cfg.Divided = func(int) {}
	now := time.Now()
	for _, name := range []string{"b", "c"} {
		g.hear(peers.NewTeller(name, 1, time.Second).Tell(map[uint64]peers.Work{r.Key: {Running: 7}}, nil, now), now)
	}
	var own []fleet.Flight
	start := func() {
		own = append(own, fleet.Flight{})
		r.Fleet.Start(&own[len(own)-1], fleet.Demand{Prompt: 100, Uncached: 40}, now)
	}
	start()
	for _, step := range []struct {
		name  string
		after time.Duration
		do    func()
		want  fleet.Beside
	}{
		{"both are heard", 0, func() {}, fleet.Beside{Running: 14}},
		{"the store is away, and leases run", Every, func() { g.Away(peers.ErrAway) }, fleet.Beside{Running: 14}},
		{"leases are over", time.Second, func() {}, fleet.Beside{Running: 2, Backlog: 80, Left: 80, Tokens: 200}},
		{"one more begins here", Every, start, fleet.Beside{Running: 4, Backlog: 160, Left: 160, Tokens: 400}},
		{"the engine runs others too", Every, func() { r.Fleet.Reports(&fleet.Reported{HasLoad: true, Others: 1}) },
			fleet.Beside{Running: 4, Backlog: 160, Left: 160, Tokens: 400}},
		{"the engine runs no others", Every, func() { r.Fleet.Reports(&fleet.Reported{HasLoad: true}) },
			fleet.Beside{}},
		{"nothing is known of it", Every, func() { r.Fleet.Reports(&fleet.Reported{}) },
			fleet.Beside{Running: 4, Backlog: 160, Left: 160, Tokens: 400}},
		{"all ends here", Every, func() { own[0].Land(); own[1].Land() }, fleet.Beside{}},
		{"one begins", Every, start, fleet.Beside{Running: 2, Backlog: 80, Left: 80, Tokens: 200}},
		{"the store is back", Every, func() { g.Away(nil) }, fleet.Beside{}},
	} {
		step.do()
		now = now.Add(step.after)
		g.look(now)
		if got := r.Fleet.Others(); got != step.want {
			t.Errorf("%s: others have %+v, want %+v", step.name, got, step.want)
		}
		before := r.Fleet.OthersChanged()
		if g.look(now); r.Fleet.OthersChanged() != before {
			t.Errorf("%s: a replica is told again of what it knows", step.name)
		}
	}
}

// A gateway that starts without the store takes as many to be there as its configuration says; one that is alone, none.
func TestAGatewayThatStartsWithoutTheStoreGoesByItsCount(t *testing.T) {
	for count, want := range map[int]int{0: 0, 1: 0, 4: 3} {
		g, r := oneReplica(t)
		g.cfg.Count, g.cfg.Divided = count, func(int) {}
		var own fleet.Flight
		now := time.Now()
		r.Fleet.Start(&own, fleet.Demand{Prompt: 100}, now)
		g.Away(peers.ErrAway)
		if g.look(now); r.Fleet.Others().Running != want {
			t.Errorf("of %d gateways others run %d", count, r.Fleet.Others().Running)
		}
	}
}
