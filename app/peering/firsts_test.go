package peering

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
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

// promised is what a Gate says to a prompt that is to have its first token within a time.
func promised(g *gate.Gate, within time.Duration) error {
	t, err := g.Admit(context.Background(), gate.Request{PromptTokens: 100, TTFTDeadline: time.Now().Add(within)})
	if err == nil {
		t.Release()
	}
	return err
}

// A gateway at which no request came in refuses what would be late by what other ones have measured, and by how wrong
// their estimates were.
func TestDeadlinesAreRefusedByWhatOtherGatewaysMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		took            func(i int) time.Duration
		refused, served time.Duration
	}{
		"all alike": {func(int) time.Duration { return 500 * time.Millisecond }, 450 * time.Millisecond,
			600 * time.Millisecond},
		"by turns": {func(i int) time.Duration { return time.Duration(100+i/2%2*800) * time.Millisecond },
			time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { measuredElsewhere(t, c.took, c.refused, c.served) })
		})
	}
}

// gathered runs so many gateways before one replica, with 50 ms between them, until end is called. They know each
// other.
func gathered(t *testing.T, n int) (members []*fleet.Replica, gates []*gate.Gate, end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	h, key := &hub{links: map[string]*hubLink{}, keys: map[string]peers.Held{}}, peers.Key("http://one", "", "")
	gates = make([]*gate.Gate, n)
	for i := range gates {
		member := ledger(t, "one", "debug")
		members = append(members, member)
		name := fmt.Sprint("gw-", i)
		g := New(Config{Name: name, Lease: 2 * time.Second, Link: late{h.link(name), 50 * time.Millisecond},
			Log: slog.New(slog.DiscardHandler)})
		admits, err := gate.New(gate.Config{MaxRunning: 8, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		gates[i] = admits
		g.Serve([]Replica{{Key: key, Fleet: member, Gate: gates[i]}})
		running.Go(func() { g.Run(ctx) })
	}
	time.Sleep(time.Second) // in a bubble
	return members, gates, func() { cancel(); running.Wait() }
}

// measuredElsewhere has two of three gateways measure, and asks all what they promise.
func measuredElsewhere(t *testing.T, took func(i int) time.Duration, refused, served time.Duration) {
	_, gates, end := gathered(t, 3)
	defer end()
	for i := range 20 {
		ticket, err := gates[i%2].Admit(t.Context(), gate.Request{PromptTokens: 100})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(took(i)) // in a bubble
		ticket.FirstToken()
		ticket.Release()
		time.Sleep(300 * time.Millisecond) // in a bubble: it is told
	}
	time.Sleep(time.Second) // in a bubble
	for i, g := range gates {
		if err := promised(g, refused); !errors.Is(err, scheduler.ErrDeadline) {
			t.Errorf("gateway %d promises within %v what may take longer: %v", i, refused, err)
		}
		if err := promised(g, served); err != nil {
			t.Errorf("gateway %d: %v", i, err)
		}
	}
}

// What is left of a prompt is known at another gateway while it is computed, to an eighth, and told of by the eighth.
func TestWhatIsLeftOfAPromptIsKnownElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members, _, end := gathered(t, 2)
		defer end()
		var f fleet.Flight
		start := func(tokens int) {
			members[0].Start(&f, fleet.Demand{Prompt: tokens, Uncached: tokens}, time.Now())
		}
		for range 8 { // 1000 tokens a second
			start(1000)
			time.Sleep(time.Second) // in a bubble
			f.FirstToken(time.Now())
			f.Land()
		}
		start(8000)
		began := time.Now()
		told := members[1].OthersChanged()
		for after := 200; after <= 7800; after += 100 {
			time.Sleep(time.Duration(after)*time.Millisecond - time.Since(began)) // in a bubble
			left := 8000 - after
			if got := members[1].Others(); got.Backlog != 8000 || got.Left < left || got.Left > left+left/7+100 {
				t.Errorf("%d tokens are left, elsewhere %+v", left, got)
			}
			if got := members[1].Work(time.Now()); int(got.Tokens) != members[1].Others().Left {
				t.Errorf("elsewhere it is taken to have %+v", got)
			}
		}
		if n := members[1].OthersChanged() - told; n < 10 || n > 40 {
			t.Errorf("it is told %d times what is left", n)
		}
		f.FirstToken(time.Now())
		time.Sleep(100 * time.Millisecond) // in a bubble
		if got := members[1].Others(); got.Left != 0 || got.Running != 1 {
			t.Errorf("with its first token it is %+v", got)
		}
		f.Land()
	})
}

// First tokens that were measured here are told where there is another gateway, once, every 200 ms at most.
func TestFirstTokensAreToldNowAndThen(t *testing.T) {
	g, r := oneReplica(t)
	measure := func() {
		ticket, err := r.Gate.Admit(t.Context(), gate.Request{PromptTokens: 100})
		if err != nil {
			t.Fatal(err)
		}
		ticket.FirstToken()
		ticket.Release()
	}
	now := time.Now()
	g.look(now)
	for _, step := range []struct {
		after    time.Duration
		measured int
		told     int
	}{{firstsEvery, 0, 0}, {Every, 1, 0}, {firstsEvery - Every, 0, 1}, {firstsEvery, 0, 0}, {firstsEvery, 1, 1}} {
		for range step.measured {
			measure()
		}
		now = now.Add(step.after)
		told := g.firsts(now)
		if len(told) != step.told {
			t.Fatalf("%d are told, want %+v", len(told), step)
		}
		if len(told) > 0 && (told[0].GetReplica() != r.Key || told[0].GetUncached() != 100) {
			t.Errorf("%v is told", told)
		}
	}
	measure() // for none
	g.look(now.Add(firstsEvery))
	if g.news.firsts != nil {
		t.Error("what was measured is kept although there is no other gateway")
	}
}

// A first token that comes twice counts once; of a replica that is not served here, and of a size that cannot be, none
// does any harm.
func TestFirstTokensAreHeardOnce(t *testing.T) {
	g, r := oneReplica(t)
	other, now := peers.NewTeller("other", 1, time.Second), time.Now()
	hear := func(f *peerspb.First, times int) {
		m := other.Tell(nil, &peerspb.Message{Firsts: []*peerspb.First{f}}, now)
		for range times {
			g.hear(m, now)
		}
	}
	hear(&peerspb.First{Replica: r.Key, Uncached: 100, TookUs: 1e7}, 9)
	if err := promised(r.Gate, time.Second); err != nil {
		t.Errorf("one alone makes a rate known: %v", err)
	}
	for range 9 {
		hear(&peerspb.First{Replica: r.Key + 1, Uncached: 100, TookUs: 1e7}, 1)
	}
	if err := promised(r.Gate, time.Second); err != nil {
		t.Errorf("another replica's count: %v", err)
	}
	for range 9 {
		hear(&peerspb.First{Replica: r.Key, Uncached: 100, TookUs: 1e7}, 1)
	}
	if err := promised(r.Gate, time.Second); !errors.Is(err, scheduler.ErrDeadline) {
		t.Errorf("10 s are promised within 1: %v", err)
	}
	hear(&peerspb.First{Replica: r.Key, Uncached: math.MaxUint64, Others: math.MaxUint64, TookUs: math.MaxUint64}, 1)
	if err := promised(r.Gate, time.Hour); err != nil && !errors.Is(err, scheduler.ErrDeadline) {
		t.Error(err)
	}
	if err := r.Gate.Check(); err != nil {
		t.Error(err)
	}
}
