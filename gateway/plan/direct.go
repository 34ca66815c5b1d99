package plan

import (
	"errors"
	"fmt"

	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/routing"
	"octet/routing/index"
)

// answerer returns the replica that is to answer, of those that take the request; empty where none is named. The error
// is why the one that is named does not take it.
func answerer(rt *ensemble.Runtime, takers index.HostBitmap, r *intake.Request) (index.HostBitmap, error) {
	var one index.HostBitmap
	name := r.Intent.Replica
	if name == "" {
		return one, nil
	}
	rep := rt.Replica(name)
	if rep == nil {
		return one, intake.UnknownReplica(fmt.Sprintf("there is no replica %q", name))
	}
	one.Set(rep.Host)
	if !takers.Has(rep.Host) {
		if _, none := intake.Takers(rt, one, &r.Parsed); none != nil {
			return one, none
		}
	}
	return one, nil
}

// named returns err with the replica that it is about, where the request has named one. A profile that serves only what
// is named says so.
func (p *Plan) named(replica string, err error) error {
	switch {
	case replica != "":
		return fmt.Errorf("%q cannot answer: %w", replica, err)
	case errors.Is(err, routing.ErrUnnamedReplica):
		return intake.NoReplicaNamed(p.Specialist.Name)
	}
	return err
}
