package plugins

import (
	"context"

	"octet/routing"
	"octet/routing/fleet"
)

// locality writes how far each candidate is: from the replica that the decision should be near to, else from here.
type locality struct {
	named
	levels []string // labels, coarse to fine
	here   map[string]string
}

// newLocality: levels (default [region, zone, node]) are the replicas' labels that say where they are, coarse to fine;
// here is where this gateway is, by the same labels, such as {region: eu, zone: "${ZONE}"}.
func newLocality(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		l := locality{named{"locality", reads(Fleet, routing.Optional(Near))}, p.Texts("levels"), p.Map("here")}
		if l.levels == nil {
			l.levels = []string{"region", "zone", "node"}
		}
		if len(l.levels) == 0 || len(l.levels) > 16 {
			p.Refuse("levels are %d, want 1 to 16", len(l.levels))
		}
		return l
	}
}

// Writes implements routing.Preparer.
func (locality) Writes() []routing.AnySlot { return reads(Distances) }

// Prepare implements routing.Preparer. It never fails.
func (l locality) Prepare(_ context.Context, c *routing.Context) error {
	v := c.View()
	from, replicas := l.here, Fleet.Get(v)
	if Near.Has(v) {
		if r := replicas.Replica(Near.Get(v)); r != nil {
			from = r.Spec().Labels
		}
	}
	if len(from) == 0 {
		return nil
	}
	places := Distances.Spare(c)
	if places == nil {
		places = new(Places)
	}
	places.Levels = len(l.levels)
	for h := range v.Candidates().All() {
		places.Distance[h] = l.distance(from, replicas.Replica(h))
	}
	Distances.Put(c, places)
	return nil
}

// distance is 0 where all levels agree, and one more for each level from the first that does not. What is unknown of a
// place is not agreed on, but for coarse levels that neither place names.
func (l locality) distance(from map[string]string, to *fleet.Replica) uint8 {
	labels := to.Spec().Labels
	far := uint8(len(l.levels))
	for i, level := range l.levels {
		place, agreed := from[level], far < uint8(len(l.levels))
		switch {
		case place == "" && labels[level] == "" && !agreed:
		case place == "" || labels[level] != place:
			if agreed {
				return far
			}
			return uint8(len(l.levels) - i)
		default:
			far = uint8(len(l.levels) - i - 1)
		}
	}
	return far
}
