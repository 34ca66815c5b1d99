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
	var rates measuredRates
	for _, h := range hosts {
		rates.add(replicas.Replica(h).Work(now).Rate)
	}
	return rates.mean(assumed)
}

// measuredRates are prefill rates, tokens a second, of which some are unknown.
type measuredRates struct {
	sum   float64
	known int
}

// add takes a replica's rate; 0 is unknown.
func (r *measuredRates) add(rate float64) {
	if rate > 0 {
		r.sum, r.known = r.sum+rate, r.known+1
	}
}

// mean returns the mean of the known ones; assumed if there is none.
func (r *measuredRates) mean(assumed float64) float64 {
	if r.known == 0 {
		return assumed
	}
	return r.sum / float64(r.known)
}
