package peering

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/gateway/tenant"
	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/scheduler/gate"
	"octet/slo"
)

// joiner is a gateway with one replica and one knob, on a hub.
type joiner struct {
	*Group
	link    *hubLink
	replica *fleet.Replica
	gate    *gate.Gate
	knobs   *slo.Knobs

	verdicts, used atomic.Int64 // of others
}

// join has a gateway take part until ctx ends.
func (h *hub) join(ctx context.Context, t *testing.T, name string, running *sync.WaitGroup) *joiner {
	t.Helper()
	member := ledger(t, "one", "debug")
	admits, err := gate.New(gate.Config{MaxRunning: 8, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	knobs, err := slo.NewKnobs(nil, slo.SpecialistKnobs("debug")...)
	if err != nil {
		t.Fatal(err)
	}
	j := &joiner{link: h.link(name), replica: member, gate: admits, knobs: knobs}
	j.Group = New(Config{Name: name, Lease: 3 * time.Second, Link: j.link, Knobs: knobs,
		Log:    slog.New(slog.DiscardHandler),
		Judged: func(string, slo.Given) { j.verdicts.Add(1) },
		Used:   func(_ string, u tenant.Used) { j.used.Add(int64(u.Tokens)) }})
	j.Serve([]Replica{{Key: peers.Key("http://one", "", ""), Fleet: member, Gate: admits}})
	running.Go(func() { j.Run(ctx) })
	return j
}

// set has an operator set the knob.
func (j *joiner) set(t *testing.T, name string, value float64) {
	t.Helper()
	if err := j.knobs.Set(name, slo.Override{Value: value, By: "operator", Why: "a test"}); err != nil {
		t.Fatal(err)
	}
}

// A gateway that joins knows within a moment what the others have and which knobs are set, not with the next message
// that is whole; and of two changes of a knob the later one holds at all, wherever it was made and however many there
// were before it.
func TestAGatewayThatJoinsKnowsAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		h := &hub{links: map[string]*hubLink{}, keys: map[string]peers.Held{}}
		name := slo.SpecialistKnobs("debug")[0].Name
		a := h.join(ctx, t, "a", &running)
		var own fleet.Flight
		a.replica.Start(&own, fleet.Demand{Prompt: 100}, time.Now())
		for i := range 5 {
			a.set(t, name, 0.1*float64(i+1))
		}
		const moment = 100 * time.Millisecond
		time.Sleep(10*time.Second + 2*moment) // in a bubble: half a second before the next whole message
		b := h.join(ctx, t, "b", &running)
		time.Sleep(moment) // in a bubble
		if n := b.replica.Others().Running; n != 1 {
			t.Errorf("the gateway that has joined knows of %d requests", n)
		}
		if v, _ := b.knobs.Value(name); v != 0.5 {
			t.Errorf("the knob is %v at the gateway that has joined", v)
		}
		b.set(t, name, 0.9)
		time.Sleep(moment) // in a bubble
		for _, j := range []*joiner{a, b} {
			if v, _ := j.knobs.Value(name); v != 0.9 {
				t.Errorf("the knob is %v at %s", v, j.Name())
			}
		}
		own.Land()
		end()
		running.Wait()
	})
}
