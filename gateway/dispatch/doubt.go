package dispatch

import (
	"github.com/zeebo/xxh3"

	"octet/gateway/intake"
	"octet/routing/fleet"
)

// doubts are the reports of replicas that they failed by themselves, before anything of their answers was passed on.
// The fault is the replica's or the request's: what other replicas make of the request decides.
type doubts []doubt

type doubt struct {
	rep    *fleet.Replica
	permit fleet.Permit
	key    uint64 // of the request
}

// note keeps a permit until it is known whose fault its end was.
func (d *doubts) note(rep *fleet.Replica, permit fleet.Permit, r *intake.Request) {
	*d = append(*d, doubt{rep, permit, xxh3.Hash(r.Bytes) ^ xxh3.HashString(r.Tenant.Name)})
}

// resolve settles the doubts. Where another replica served the request they are the replicas' failures. Where two
// replicas failed it alike, the fault is the request's. Where no other could be asked, a replica that fails different
// requests, and answers none in between, has failed.
func (d *doubts) resolve(served bool) {
	all, alike := *d, false
	for i := range all {
		alike = alike || all[i].rep != all[0].rep
	}
	for i := range all {
		switch d := &all[i]; {
		case served:
			d.permit.Settle(fleet.Failed)
		case alike:
			d.permit.Settle(fleet.Cancelled)
		default:
			d.rep.Suspect(&d.permit, d.key)
		}
	}
	*d = nil
}
