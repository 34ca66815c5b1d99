package gateway

import (
	"github.com/zeebo/xxh3"

	"octet/routing/fleet"
)

// doubt is the report of a replica that it failed by itself, before anything of its answer was passed on. The fault is
// the replica's or the request's: what other replicas make of the request decides.
type doubt struct {
	rep    *fleet.Replica
	permit fleet.Permit
	key    uint64 // of the request
}

// doubt keeps the turn's permit until it is known whose fault its end was.
func (x *exchange) doubt() {
	key := xxh3.Hash(x.request.Bytes) ^ xxh3.HashString(x.request.Tenant.Name)
	x.doubts = append(x.doubts, doubt{x.turn.rep.Fleet, x.turn.place.Doubt(), key})
}

// resolve settles the doubts. Where another replica served the request they are the replicas' failures. Where two
// replicas failed it alike, the fault is the request's. Where no other could be asked, a replica that
// fails different requests, and answers none in between, has failed.
func (x *exchange) resolve(served bool) {
	alike := false
	for i := range x.doubts {
		alike = alike || x.doubts[i].rep != x.doubts[0].rep
	}
	for i := range x.doubts {
		switch d := &x.doubts[i]; {
		case served:
			d.permit.Settle(fleet.Failed)
		case alike:
			d.permit.Settle(fleet.Cancelled)
		default:
			d.rep.Suspect(&d.permit, d.key)
		}
	}
	x.doubts = nil
}
