package peering

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// tells has a gateway of that name tell what it has at a replica.
func tells(g *Group, name string, r *Replica, w peers.Work, now time.Time) {
	g.hear(peers.NewTeller(name, 1, time.Second).Tell(map[uint64]peers.Work{r.Key: w}, nil, now), now)
}

// Two specialists of one engine are told as one, of which all is there.
func TestSpecialistsOfOneEngineAreToldTogether(t *testing.T) {
	g, r := oneReplica(t)
	second := ledger(t, "two", "review")
	g.Serve([]Replica{*r, {Key: r.Key, Fleet: second, Gate: r.Gate}})
	var flights [3]fleet.Flight
	for i, member := range []*fleet.Replica{r.Fleet, second, second} {
		member.Start(&flights[i], fleet.Demand{Prompt: 100, Uncached: 40}, time.Now())
	}
	if w := g.replicas.Load().gather(time.Now())[r.Key]; w.Running != 3 || w.Backlog != 120 || w.Left != 120 ||
		w.Tokens != 300 {
		t.Errorf("%+v is told", w)
	}
}

// A replica that comes with a reload is told at once what others have there.
func TestAReplicaThatIsNewIsToldWhatOthersHave(t *testing.T) {
	g, r := oneReplica(t)
	tells(g, "b", r, peers.Work{Running: 3}, time.Now())
	later := ledger(t, "later", "debug")
	g.Serve([]Replica{{Key: r.Key, Fleet: later, Gate: r.Gate}})
	if got := later.Others(); got.Running != 3 {
		t.Errorf("others have %+v", got)
	}
}

// To a gateway that takes part no more others have nothing.
func TestAGatewayThatLeavesForgetsWhatOthersHave(t *testing.T) {
	g, r := oneReplica(t)
	tells(g, "b", r, peers.Work{Running: 3, Blocks: 2}, time.Now())
	over, end := context.WithCancel(t.Context())
	end()
	g.Run(over)
	if got := r.Fleet.Others(); got != (fleet.Beside{}) || r.Gate.Calibration().Withheld != 0 {
		t.Errorf("others have %+v, and %d blocks", got, r.Gate.Calibration().Withheld)
	}
}

// Sequences of others take places at an engine's Gate from the second one here on.
func TestOthersSequencesTakePlaces(t *testing.T) {
	g, r := oneReplica(t) // with eight places, and none to wait
	first, err := r.Gate.Admit(t.Context(), gate.Request{PromptTokens: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	now, b := time.Now(), peers.NewTeller("b", 1, time.Second)
	for i, step := range []struct {
		others int
		want   error
	}{{7, scheduler.ErrRefused}, {6, nil}} {
		at := now.Add(time.Duration(i) * tellEvery)
		g.hear(b.Tell(map[uint64]peers.Work{r.Key: {Running: step.others}}, nil, at), at)
		ticket, err := r.Gate.Admit(t.Context(), gate.Request{PromptTokens: 16})
		if !errors.Is(err, step.want) {
			t.Errorf("beside %d: %v", step.others, err)
		}
		if err == nil {
			ticket.Release()
		}
	}
}

// An answer counts from the gateway that was asked alone.
func TestAnAnswerIsOfTheGatewayThatWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, r := oneReplica(t)
		for _, name := range []string{"b", "c"} {
			tells(g, name, r, peers.Work{Running: 1}, time.Now())
		}
		var asking sync.WaitGroup
		asking.Go(func() {
			if tenant, text, ok := g.Receipt(t.Context(), "b.1", false); !ok || tenant != "b" || string(text) != "{}" {
				t.Errorf("%q of %q", text, tenant)
			}
		})
		synctest.Wait()
		for _, from := range []string{"c", "b"} {
			g.answered(from, &peerspb.Answer{Number: 1, Tenant: from, Receipt: []byte("{}")})
		}
		asking.Wait()
	})
}

// Which specialist a conversation is with is told to the others with the next message, once.
func TestSeatsAreTold(t *testing.T) {
	g, r := oneReplica(t)
	now := time.Now()
	tells(g, "b", r, peers.Work{Running: 1}, now)
	g.Seated(7, "debug", 80)
	g.Seated(7, "review", 90)
	if m := g.news.write(nil, now); len(m.GetSeats()) != 1 || m.GetSeats()[0].GetSpecialist() != "review" {
		t.Errorf("%v is told", m)
	}
	if m := g.news.write(nil, now); len(m.GetSeats()) != 0 {
		t.Errorf("%v is told again", m)
	}
}
