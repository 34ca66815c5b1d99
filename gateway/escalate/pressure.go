package escalate

import (
	"time"

	"octet/gateway/ensemble"
	"octet/scheduler"
	"octet/scheduler/gate"
	"octet/slo"
)

// pressureOf is what a new request of the least priority would meet at the specialist: of each role the replica with
// the least pressure counts, and of the roles the one with the most. Replicas that cannot be asked do not count: they
// are the availability breaker's concern.
func pressureOf(rt *ensemble.Runtime, sp *ensemble.Specialist) float64 {
	least := map[string]float64{} // by role
	for _, rep := range &rt.Replicas {
		if rep == nil || rep.Fleet.Spec().Specialist != sp.Name || !rep.Fleet.Available() || !rep.Fleet.Admits() {
			continue
		}
		role, p := rep.Fleet.Spec().Role, replicaPressure(rep, rt.Limits.MaxQueueWait)
		if known, ok := least[role]; !ok || p < known {
			least[role] = p
		}
	}
	most := 0.0
	for _, p := range least {
		most = max(most, p)
	}
	return most
}

// replicaPressure is how near a replica's Gate is to refusing, 0 to 1: by the places taken in its queue or by the wait
// that it estimates, whichever is more.
func replicaPressure(rep *ensemble.Replica, maxWait time.Duration) float64 {
	p := 0.0
	if rep.MaxWaiting > 0 {
		p = float64(rep.Gate.Stats().Waiting) / float64(rep.MaxWaiting)
	}
	switch a := rep.Gate.Probe(gate.Request{ID: "pressure", Priority: slo.LeastPriority, PromptTokens: 1,
		MaxNew: 1}); {
	case a.State == scheduler.Refused:
		return 1
	case a.State == scheduler.Waiting && maxWait > 0:
		p = max(p, a.Estimate.Seconds()/maxWait.Seconds())
	}
	return p
}
