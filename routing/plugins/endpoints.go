package plugins

import (
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// endpoints keeps the replicas that can do one part of a request, whatever the profile selects for.
type endpoints struct {
	named
	able func(*fleet.Snapshot) index.HostBitmap
}

func newPrefillEndpoints(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return endpoints{named{"prefill-endpoints", reads(Fleet)}, (*fleet.Snapshot).Prefill}
	}
}

func newDecodeEndpoints(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return endpoints{named{"decode-endpoints", reads(Fleet)}, (*fleet.Snapshot).Decode}
	}
}

// Filter implements routing.Filter.
func (e endpoints) Filter(v routing.View, left *index.HostBitmap) {
	able := e.able(Fleet.Get(v))
	left.Keep(&able)
}
