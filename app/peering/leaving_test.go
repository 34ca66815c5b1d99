package peering

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/gateway/tenant"
	"octet/routing/peers"
	"octet/scheduler/gate"
	"octet/slo"
)

// What happened at a gateway up to the moment at which it stops in good order is known at the others: what tenants have
// used and started, verdicts, knobs, and how long first tokens took.
func TestAGatewayThatLeavesTellsAllBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		stop, stopped := context.WithCancel(ctx)
		var running, leaving sync.WaitGroup
		h := &hub{links: map[string]*hubLink{}, keys: map[string]peers.Held{}}
		a, b := h.join(ctx, t, "a", &running), h.join(stop, t, "b", &leaving)
		name := slo.SpecialistKnobs("debug")[0].Name
		shares := peers.Key("http://one", "", "")
		happens := func() {
			b.Used("acme", tenant.Used{Tokens: 200})
			b.Judged("debug", slo.Given{})
			b.Shares(shares).Started("acme", 1, 1000)
			ticket, err := b.gate.Admit(t.Context(), gate.Request{PromptTokens: 100})
			if err != nil {
				t.Fatal(err)
			}
			ticket.FirstToken()
			ticket.Release()
		}
		time.Sleep(time.Second + Every/2) // in a bubble: they know each other
		happens()
		time.Sleep(Every) // in a bubble: it is told, so that nothing is due again for a while
		happens()
		b.set(t, name, 1)
		stopped()
		leaving.Wait()
		synctest.Wait()
		if v, _ := a.knobs.Value(name); v != 1 || a.used.Load() != 400 || a.verdicts.Load() != 2 {
			t.Errorf("the knob is %v, %d tokens are used, %d verdicts count", v, a.used.Load(), a.verdicts.Load())
		}
		if n := a.Shares(shares).Had("acme", 1); n < 1900 {
			t.Errorf("what started cost %d, of 2000", n)
		}
		if _, untold := b.gate.LastFirst(); untold {
			t.Error("it is not told how long the last first token took")
		}
		end()
		running.Wait()
	})
}
