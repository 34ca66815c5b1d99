package plan

import (
	"context"
	"testing"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/tenant"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
)

// urgent is a Handler: a request of a priority above 0 goes way 1, any other way 0; one below 0 takes both in turn.
type urgent struct{}

func (urgent) Reads() []routing.AnySlot { return nil }

func (urgent) Pick(v routing.View, earlier []routing.Cycle) (way int, why string) {
	switch priority := v.Facts().Priority; {
	case len(earlier) > 0 && priority >= 0 || len(earlier) > 1:
		return -1, ""
	case priority > 0:
		return 1, "urgent"
	}
	return len(earlier), "any"
}

// straight is a way that gives a plan, or none.
type straight struct{ err error }

func (s straight) Plan(context.Context, *routing.Context) (routing.Plan, error) {
	return routing.Plan{Steps: []routing.Step{{Ranked: []routing.Scored{{}}}}}, s.err
}

// byWay is a Pipeline whose protocols say for which way they were asked.
type byWay struct{ ensemble.Pipeline }

type protocolOf struct {
	ensemble.Plain
	way int
}

func (byWay) Seed(*routing.Context, *fleet.Snapshot)                       {}
func (byWay) Footprint(routing.View, *ensemble.Footprint)                  {}
func (byWay) Protocol(way int) ensemble.Protocol                           { return protocolOf{way: way} }
func (byWay) Planned(*routing.Context, routing.Plan, error, time.Duration) {}

// GAIE-02: a plan goes by the protocol of the profile that the handler chose, not by the first one's: the last that
// gave a plan, where it was asked again.
func TestAPlanGoesByTheProtocolOfItsWay(t *testing.T) {
	for name, c := range map[string]struct {
		priority, want int
		second         error // of way 1
	}{
		"the first way":               {priority: 0, want: 0},
		"the second way":              {priority: 1, want: 1},
		"both, the last gives a plan": {priority: -1, want: 1},
		"both, the last gives none":   {priority: -1, want: 0, second: routing.ErrNoCandidate},
	} {
		workflow, err := routing.Handle(urgent{}, routing.Way{Name: "a", Workflow: straight{}},
			routing.Way{Name: "b", Workflow: straight{c.second}})
		if err != nil {
			t.Fatal(err)
		}
		sp := &ensemble.Specialist{Name: "debug", Workflow: workflow, Pipeline: byWay{}}
		rt := (&ensemble.Runtime{Specialists: []*ensemble.Specialist{sp}}).Seal()
		r := &intake.Request{Tenant: &tenant.Tenant{Name: "acme"}, Kind: wire.Chat, Body: &intake.Body{},
			Intent: intake.Intent{Priority: c.priority}}
		p := Plan{Specialist: sp}
		if _, err := p.Make(t.Context(), rt, r, &Ask{Now: time.Unix(1000, 0)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := p.Protocol().(protocolOf).way; got != c.want {
			t.Errorf("%s: the protocol of way %d, want %d", name, got, c.want)
		}
		p.Release(false)
	}
}
