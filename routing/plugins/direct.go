package plugins

import (
	"fmt"

	"octet/routing"
)

// direct picks the replica that the caller names, and no other: one that is unknown, or that a filter removed, is an
// error and never another replica.
type direct struct {
	named
	replica string
}

// newDirect: replica is the one that is picked if the caller names none; without it that is an error too.
func newDirect(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return direct{named{"direct", reads(Fleet)}, p.Text("replica", "")}
	}
}

// WantsName returns true if a profile serves only requests that name a replica.
func WantsName(p *routing.ProfileSpec) bool {
	return p.Pick.Name == "direct" && p.Pick.Params["replica"] == nil
}

// Pick implements routing.Picker.
func (d direct) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	name, replicas := d.name(v), Fleet.Get(v)
	for i, s := range scored {
		if replicas.Replica(s.Host).Spec().Name == name {
			return scored[i : i+1]
		}
	}
	return nil
}

// Why implements routing.Explainer.
func (d direct) Why(v routing.View) error {
	if name := d.name(v); name != "" {
		return fmt.Errorf("%w: %q is not among those that can serve this", routing.ErrUnknownReplica, name)
	}
	return routing.ErrUnnamedReplica
}

func (d direct) name(v routing.View) string {
	if name := v.Facts().Replica; name != "" {
		return name
	}
	return d.replica
}
