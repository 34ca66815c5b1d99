package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// health keeps the replicas that are healthy and not draining.
type health struct{ named }

func newHealth(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin { return &health{named{"health", reads(Fleet)}} }
}

// Filter implements routing.Filter.
func (*health) Filter(v routing.View, left *index.HostBitmap) {
	Fleet.Get(v).KeepAvailable(left)
}
