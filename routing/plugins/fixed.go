package plugins

import (
	"sync/atomic"

	"octet/routing/fleet"
	"octet/routing/index"
)

// fixed remembers which replicas of a snapshot satisfy what never changes about a replica, so that a request costs one
// load.
type fixed struct {
	holds func(*fleet.Spec) bool
	last  atomic.Pointer[fixedAnswer]
}

type fixedAnswer struct {
	of    *fleet.Snapshot
	hosts index.HostBitmap
}

// hosts returns the replicas of s for which it holds.
func (f *fixed) hosts(s *fleet.Snapshot) index.HostBitmap {
	if a := f.last.Load(); a != nil && a.of == s {
		return a.hosts
	}
	a := &fixedAnswer{of: s}
	for h := range s.Hosts.All() {
		if f.holds(s.Replica(h).Spec()) {
			a.hosts.Set(h)
		}
	}
	f.last.Store(a)
	return a.hosts
}
