package decide

import (
	"fmt"

	"octet/classifier"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
)

// A request that names a replica gets that one or an error: the replica's specialist counts as declared, so there is no
// second choice, and no other specialist stands in for it while it is demoted.

// declared returns the model that a request declares: its own, or the specialist of the replica that it names.
func declared(rt *ensemble.Runtime, r *intake.Request) (string, error) {
	model, name := r.Parsed.Model, r.Intent.Replica
	if name == "" {
		return model, nil
	}
	rep := rt.Replica(name)
	switch {
	case rep == nil:
		return "", intake.UnknownReplica(fmt.Sprintf("there is no replica %q", name))
	case model == "" || model == classifier.Routed:
		return rep.Fleet.Spec().Specialist, nil
	}
	return model, nil
}

// holds refuses a replica that is not one of the specialist that the request declares.
func holds(rt *ensemble.Runtime, r *intake.Request, d *Decision) error {
	name := r.Intent.Replica
	if name == "" || rt.Replica(name).Fleet.Spec().Specialist == d.Specialist {
		return nil
	}
	return intake.UnknownReplica(fmt.Sprintf("%q is no replica of %s", name, d.Specialist))
}

// demoted is the error of a request that names a replica of a specialist which is demoted.
func demoted(r *intake.Request, specialist string) error {
	return apierr.New(apierr.BreakerOpen, "",
		fmt.Sprintf("%s is demoted for its correctness, and %q is a replica of it", specialist, r.Intent.Replica))
}
