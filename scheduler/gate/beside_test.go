package gate

import (
	"testing"
	"time"
)

// The blocks of other gateways are withheld once, be they told by these or seen in the engine's own report.
func TestBlocksThatAreToldAndSeenAreWithheldOnce(t *testing.T) {
	for name, test := range map[string]struct {
		told, seen int // blocks
		want       int
	}{
		"neither": {0, 0, 0}, "told alone": {60, 0, 60}, "seen alone": {0, 40, 40},
		"the same": {40, 40, 40}, "told is newer": {60, 40, 60}, "seen is more": {20, 40, 40},
	} {
		t.Run(name, func(t *testing.T) {
			gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
				if test.seen > 0 {
					g.Reconcile(Observed{KVUsage: float64(test.seen) / 100, HasUsage: true, Running: 5, HasLoad: true})
				}
				g.Beside(Beside{Sequences: 1, Blocks: test.told})
				if s := g.mustBalance(t); s.Withheld != test.want || s.Free != 100-test.want {
					t.Errorf("%+v", s)
				}
				g.Beside(Beside{})
				g.Reconcile(Observed{HasUsage: true, HasLoad: true})
				if s := g.mustBalance(t); s.Free != 100 {
					t.Errorf("after both: %+v", s)
				}
			})
		})
	}
}

// What waits for blocks or places of other gateways starts when these are told to be free.
func TestWhatOtherGatewaysGiveBackIsUsed(t *testing.T) {
	for name, beside := range map[string]Beside{
		"blocks": {Sequences: 1, Blocks: 80}, "places": {Sequences: 8, Blocks: 8},
	} {
		t.Run(name, func(t *testing.T) {
			gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
				first := admitted(t, g, ofBlocks(10))
				g.Beside(beside)
				w := waits(t, g, ofBlocks(40))
				g.Beside(Beside{Sequences: 1, Blocks: 10})
				wantTicket(t, w).Release()
				first.Release()
				g.mustBalance(t)
			})
		})
	}
}

// A gateway that runs none starts one beside any number of others' sequences, if its blocks are free.
func TestNoGatewayStarves(t *testing.T) {
	gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
		g.Beside(Beside{Sequences: 100, Blocks: 50})
		first := admitted(t, g, ofBlocks(10))
		w := waits(t, g, ofBlocks(10))
		first.Release()
		wantTicket(t, w).Release()
		g.mustBalance(t)
	})
}

// A request waits behind a strictly more urgent one at another gateway, and not behind one of its own priority.
func TestAMoreUrgentRequestElsewhereIsFirst(t *testing.T) {
	gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
		ask := ofBlocks(10)
		ask.Priority = 5
		g.Beside(Beside{Waits: true, Urgent: 5})
		admitted(t, g, ask).Release()
		g.Beside(Beside{Waits: true, Urgent: 6})
		w := waits(t, g, ask)
		urgent := ofBlocks(10)
		urgent.Priority = 7
		admitted(t, g, urgent).Release()
		g.mustBalance(t)
		if came(w) != nil {
			t.Fatal("it has started")
		}
		g.Beside(Beside{})
		wantTicket(t, w).Release()
	})
}

// No request of this gateway gives way for one that is behind another gateway's.
func TestNoRequestGivesWayForOneThatIsBehind(t *testing.T) {
	gated(t, Config{Blocks: 20, BlockSize: 16, MaxRunning: 8, MaxWaiting: 8}, func(t *testing.T, g *Gate) {
		victim := ofBlocks(15)
		victim.Victim, victim.Priority = true, -10
		held := admitted(t, g, victim)
		g.Beside(Beside{Waits: true, Urgent: 50})
		ask := ofBlocks(10)
		ask.Priority = 5
		w := waits(t, g, ask)
		if s := g.mustBalance(t); s.Preempting != 0 {
			t.Errorf("%+v", s)
		}
		g.Beside(Beside{})
		if s := g.mustBalance(t); s.Preempting != 1 {
			t.Errorf("once it is the first: %+v", s)
		}
		held.Release()
		wantTicket(t, w).Release()
	})
}

// What a request is told to wait counts with the ends of other gateways' answers, and their company.
func TestAForecastCountsWithOtherGateways(t *testing.T) {
	gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
		for range 20 {
			ticket := admitted(t, g, ofBlocks(10))
			time.Sleep(time.Second) // in a bubble
			ticket.FirstToken()
			time.Sleep(9 * time.Second) // in a bubble
			ticket.Grow(10)
			ticket.Release()
		}
		held := admitted(t, g, ofBlocks(10))
		g.Beside(Beside{Sequences: 4, Blocks: 80, Answer: 8 * time.Second})
		a := g.Probe(ofBlocks(50))
		if a.Estimate <= 0 || a.Estimate > 10*time.Second {
			t.Errorf("%+v", a)
		}
		held.Release()
	})
}
