package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// prefillWork is what prefill a request finds at a replica, and brings there.
type prefillWork struct {
	queued float64 // prompt tokens that are to be computed before it
	own    float64 // tokens of its own to compute; the last one always is
	rate   float64 // prompt tokens a second
}

// prefillAt returns the prefill work at h. typical is the rate of a replica without a measurement.
func prefillAt(v routing.View, h index.HostID, typical float64) prefillWork {
	work := Fleet.Get(v).Replica(h).Work(v.Facts().Now)
	if work.Rate <= 0 {
		work.Rate = typical
	}
	return prefillWork{work.Tokens, float64(uncached(v, h)), work.Rate}
}

// typicalRate returns the mean of the prefill rates that are measured at hosts; assumed if none is.
func typicalRate(v routing.View, hosts []index.HostID, assumed float64) float64 {
	replicas, now := Fleet.Get(v), v.Facts().Now
	sum, known := 0.0, 0
	for _, h := range hosts {
		if rate := replicas.Replica(h).Work(now).Rate; rate > 0 {
			sum, known = sum+rate, known+1
		}
	}
	if known == 0 {
		return assumed
	}
	return sum / float64(known)
}
