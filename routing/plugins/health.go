package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// health keeps the replicas that are healthy, not draining and not withdrawn.
type health struct{ named }

func newHealth(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return &health{named{"health", reads(Fleet)}} }
}

// Filter implements routing.Filter.
func (*health) Filter(v routing.View, left *index.HostBitmap) {
	Fleet.Get(v).KeepAvailable(left)
}

// Reason implements routing.Reasoner.
func (*health) Reason(v routing.View, h index.HostID) string {
	if r := Fleet.Get(v).Replica(h); r != nil {
		return string(r.Why())
	}
	return ""
}
