package gateway

import (
	"time"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
)

// unready returns why nothing can be served; nil if any specialist can, or all of them, as ReadyWhen says.
func unready(rt *ensemble.Runtime, now time.Time) *apierr.Error {
	e, serving := apierr.New(apierr.NoHealthyReplica, "", "no replica serves"), 0
	for _, sp := range rt.Specialists {
		s := sp.Snapshot()
		if s.Serves() {
			serving++
		} else if back := s.Recovery(now); e.RetryAfter == 0 || back > 0 && back < e.RetryAfter {
			e.RetryAfter = back
		}
	}
	if serving == len(rt.Specialists) || serving > 0 && rt.ReadyWhen != ensemble.ReadyAll {
		return nil
	}
	return e
}
