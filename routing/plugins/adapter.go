package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// Adapters knows which replicas can serve an adapter. Safe for concurrent use.
type Adapters interface {
	// Serving returns those of among that serve adapter now or can be made to.
	Serving(specialist, adapter string, among index.HostBitmap) index.HostBitmap
}

// adapter keeps the replicas that can serve the request's adapter. Where nothing is known of adapters all are kept, as
// for a request without one.
type adapter struct {
	named
	adapters Adapters
}

func newAdapter(d Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return &adapter{named{"adapter", reads(routing.Optional(Fleet))}, d.Adapters}
	}
}

// Filter implements routing.Filter.
func (a *adapter) Filter(v routing.View, left *index.HostBitmap) {
	f := v.Facts()
	if f.Adapter == "" || a.adapters == nil {
		return
	}
	serving := a.adapters.Serving(f.Specialist, f.Adapter, *left)
	gone := Fleet.Get(v).Departed() // nothing is known of these any more: they are kept
	*left = serving.Or(left.And(gone))
}
