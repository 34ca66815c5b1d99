package plugins

import (
	"context"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// inFlightLoad writes how busy each candidate is, so that all that ask see one moment.
type inFlightLoad struct{ named }

func newInFlightLoad(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return inFlightLoad{named{"in-flight-load", reads(Fleet)}} }
}

// Writes implements routing.Preparer.
func (inFlightLoad) Writes() []routing.AnySlot { return reads(Loads) }

// Prepare implements routing.Preparer. It never fails.
func (inFlightLoad) Prepare(_ context.Context, c *routing.Context) error {
	loads := Loads.Spare(c)
	if loads == nil {
		loads = new([index.MaxHosts]fleet.Load)
	}
	replicas := Fleet.Get(c.View())
	for h := range c.View().Candidates().All() {
		loads[h] = replicas.Replica(h).Load()
	}
	Loads.Put(c, loads)
	return nil
}

// uncached returns how many tokens of the prompt the replica at h has to compute, as far as is known. The last one
// always is.
func uncached(v routing.View, h index.HostID) int {
	tokens := PromptTokens.Get(v)
	if depths := Depths.Get(v); depths != nil && depths[h] > 0 {
		return max(tokens-int(depths[h])*Fleet.Get(v).BlockSize(), min(tokens, 1))
	}
	return tokens
}
