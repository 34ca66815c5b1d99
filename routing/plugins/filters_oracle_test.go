package plugins_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// removedBy is the slow, obvious chain of the presets' filters: the one that takes out a replica; "" if none does.
func removedBy(r *fleet.Replica, role routing.Role, most int) string {
	can := map[string][]routing.Role{
		fleet.RoleBoth:    {routing.RoleBoth, routing.RolePrefill, routing.RoleDecode, routing.RolePreprocess},
		fleet.RolePrefill: {routing.RolePrefill},
		fleet.RoleDecode:  {routing.RoleDecode}, fleet.RolePreprocess: {routing.RolePreprocess},
	}
	able := false
	for _, has := range can[r.Spec().Role] {
		able = able || has == role
	}
	switch {
	case !r.Healthy() || r.Draining():
		return "health"
	case !able:
		return "role"
	case !r.Admits():
		return "breaker"
	case r.InFlight() >= most:
		return "concurrency"
	}
	return ""
}

// Whatever the states of the replicas are, those are left that each filter would keep by itself, and the trace names
// the first that would not.
func TestFiltersTogetherRemoveWhomEachWould(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 8))
	roles := []string{fleet.RoleBoth, fleet.RoleBoth, fleet.RoleBoth, fleet.RolePrefill, fleet.RoleDecode,
		fleet.RolePreprocess}
	for round := range 300 {
		w := newWorld(t, 0, fleet.WithTerms(fleet.Terms{Breaker: fleet.Breaker{Failures: 1, MaxEjected: 1}}))
		calm := draw.IntN(3) == 0
		for range 1 + draw.IntN(12) {
			r := w.put(fleet.Spec{Host: index.HostID(draw.IntN(index.MaxHosts)), Role: roles[draw.IntN(len(roles))]})
			r.SetDraining(!calm && draw.IntN(5) == 0)
			if p, err := r.Take(); err == nil && !calm && draw.IntN(5) == 0 {
				p.Settle(fleet.Failed)
			}
			for range draw.IntN(4) {
				r.Begin()
			}
		}
		role := routing.Role(draw.IntN(4))
		p := w.build(routing.ProfileSpec{Name: "p", Role: role, Pick: routing.PluginSpec{Name: "max-score"},
			Filter: []routing.PluginSpec{
				{Name: "health"}, {Name: "role"}, {Name: "breaker"}, {Name: "adapter"},
				{Name: "concurrency", Params: map[string]any{"max": 3}}}})
		c := w.request(routing.Facts{})
		c.EnableTrace(nil)
		d, err := p.Select(t.Context(), c)
		var want index.HostBitmap
		for _, at := range c.Trace().Candidates {
			by := removedBy(w.replica(at.Host), role, 3)
			if at.RemovedBy != by {
				t.Fatalf("round %d: %d is removed by %q, want %q", round, at.Host, at.RemovedBy, by)
			}
			if by == "" {
				want.Set(at.Host)
			}
		}
		if err != nil && !errors.Is(err, routing.ErrNoCandidate) || (err == nil) == want.Empty() || err == nil &&
			d.Eligible != want {
			t.Fatalf("round %d: %v, %v are left, want %v", round, err, d.Eligible, want)
		}
	}
}
