package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// headroomTier keeps the candidates that are foretold to be in time, where there are any. All are kept for a request
// without a deadline, and where all are of one kind.
type headroomTier struct {
	named
	explore float64
	dice    *dice
}

// newHeadroomTier: explore (default 0.01) is the share of requests that get the other tier instead, so that its
// forecasts stay fresh; seed makes the draws repeatable.
func newHeadroomTier(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return headroomTier{named{"slo-headroom-tier", reads(Forecasts)}, p.Float("explore", 0.01, 0, 1), newDice(d, p)}
	}
}

// Filter implements routing.Filter. A candidate that is foretold nothing counts as late.
func (t headroomTier) Filter(v routing.View, left *index.HostBitmap) {
	want, forecasts := wishOf(v.Facts()), Forecasts.Get(v)
	if want.none() || forecasts == nil {
		return
	}
	var inTime index.HostBitmap
	for h := range left.All() {
		if want.met(forecasts[h]) {
			inTime.Set(h)
		}
	}
	late := left.AndNot(inTime)
	switch {
	case inTime.Empty() || late.Empty(): // no tiers to choose from
	case t.dice.chance(v, t.explore):
		*left = late
	default:
		*left = inTime
	}
}
