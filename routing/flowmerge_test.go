package routing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
	"octet/routing/index"
)

// GAIE-03: what several profiles decided becomes one result: a plan with a step for each that counts, in the order of
// the legs, and the last of them answers. A profile that finds no replica, or whose pick turns out not to be worth it,
// is not in it.
func TestTheResultsOfSeveralProfilesMergeIntoOnePlan(t *testing.T) {
	reg := routing.Registry{
		"best": as(best("best")), "even": as(without("even", 1, 3)), "odd": as(without("odd", 0, 2)),
		"none": as(without("none", 0, 1, 2, 3)),
		"load": as(table("load", 0.1, 0.2, 0.9, 0.4)),
	}
	leg := func(name, filter string, role routing.Role) routing.Leg {
		s := spec(name, role)
		s.Filter, s.Score = named(filter), []routing.WeightedSpec{weighted("load", 1)}
		return routing.Leg{Name: name, Selector: build(t, s, reg)}
	}
	type step struct {
		Name string
		Role routing.Role
		Best index.HostID
	}
	encode, decode := step{"encode", routing.RolePreprocess, 2}, step{"decode", routing.RoleDecode, 3}
	for _, c := range []struct {
		name, filter, late string
		want               []step
	}{
		{"all count", "even", "", []step{encode, {"prefill", routing.RolePrefill, 2}, decode}},
		{"nobody prefills", "none", "", []step{encode, decode}},
		{"prefilling is not worth it", "even", "warm", []step{encode, decode}},
	} {
		t.Run(c.name, func(t *testing.T) {
			prefill := leg("prefill", c.filter, routing.RolePrefill)
			prefill.OnFailure, prefill.Decider = routing.Skip, afterwards{c.late}
			ctx := request(t, 4)
			plan, err := flow(t, leg("encode", "even", routing.RolePreprocess), prefill,
				leg("decode", "odd", routing.RoleDecode)).Plan(t.Context(), ctx)
			if err != nil {
				t.Fatal(err)
			}
			var got []step
			for _, s := range plan.Steps {
				got = append(got, step{s.Name, s.Role, s.Ranked[0].Host})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if told := ctx.AppendSelections(nil); len(told) != 3 {
				t.Errorf("%d results are told of, want all 3", len(told))
			}
		})
	}
}

// afterwards leaves a leg out when all have selected, unless reason is "".
type afterwards struct{ reason string }

func (afterwards) Reads() []routing.AnySlot                         { return nil }
func (afterwards) Before(routing.View) string                       { return "" }
func (d afterwards) After(_ routing.View, last index.HostID) string { return d.reason }
