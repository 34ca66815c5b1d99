package gateway

import (
	"time"

	"octet/gateway/apierr"
)

// ReadyAll is the ReadyWhen of a gateway that is ready only while every specialist has a replica that serves.
const ReadyAll = "all"

// unready returns why nothing can be served; nil if any specialist can, or all of them, as ReadyWhen says.
func (rt *Runtime) unready(now time.Time) *apierr.Error {
	e, serving := apierr.New(apierr.NoHealthyReplica, "", "no replica serves"), 0
	for _, sp := range rt.Specialists {
		s := sp.fleet
		if s.Serves() {
			serving++
		} else if back := s.Recovery(now); e.RetryAfter == 0 || back > 0 && back < e.RetryAfter {
			e.RetryAfter = back
		}
	}
	if serving == len(rt.Specialists) || serving > 0 && rt.ReadyWhen != ReadyAll {
		return nil
	}
	return e
}
