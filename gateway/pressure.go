package gateway

import (
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/scheduler"
	"octet/scheduler/gate"
	"octet/slo"
)

// Escalate takes every specialist's pressure and sets its knobs, and those of the intents that load it. To be called
// often, and by one goroutine: requests read what it has set and never wait for it.
func (s *Server) Escalate(now time.Time) {
	rt := s.runtime.Load()
	defer s.raiseIntents(rt)
	for _, sp := range rt.Specialists {
		if sp.Load == nil {
			continue
		}
		step, floor := sp.Load.Step(), sp.Load.Floor()
		sp.Load.Observe(pressureOf(rt, sp), now)
		if st := sp.Load.State(); st.Step != step || st.Floor != floor {
			s.adjust(sp, st)
			s.tell(sp, st)
		}
	}
}

// adjust puts what an escalation demands into its specialist's knobs.
func (s *Server) adjust(sp *ensemble.Specialist, st slo.EscalationState) {
	why := st.Why()
	s.knobs.Adjust(slo.LoadStep+sp.Name, slo.Override{Value: float64(st.Step), By: "escalation", Why: why})
	s.knobs.Adjust(slo.LoadFloor+sp.Name, slo.Override{Value: float64(st.Floor), By: "escalation", Why: why})
}

// raised is a floor that load demands of an intent.
type raised struct {
	floor int
	why   string
}

// raiseIntents puts the floors that specialists under load demand into the knobs of the intents that load them: of
// several, the highest. A floor that is no longer demanded goes back to what is configured.
func (s *Server) raiseIntents(rt *ensemble.Runtime) {
	demanded := map[string]raised{}
	for _, sp := range rt.Specialists {
		if sp.Load == nil || sp.Escalation() < slo.Throttling {
			continue
		}
		for _, intent := range sp.Load.Intents() {
			if floor := sp.LoadFloor(intent); floor > demanded[intent].least() {
				demanded[intent] = raised{floor, "it loads " + sp.Name}
			}
		}
	}
	for intent, is := range demanded {
		if s.floors[intent] != is {
			own, _ := s.knobs.Default(slo.PriorityFloor + intent)
			s.knobs.Adjust(slo.PriorityFloor+intent,
				slo.Override{Value: max(own, float64(is.floor)), By: "escalation", Why: is.why})
		}
	}
	for intent := range s.floors {
		if demanded[intent].why == "" {
			s.knobs.Reset(slo.PriorityFloor + intent)
		}
	}
	s.floors = demanded
}

// least is the floor of what is demanded; of nothing that which lets everybody pass.
func (r raised) least() int {
	if r.why == "" {
		return slo.LeastPriority
	}
	return r.floor
}

func (s *Server) tell(sp *ensemble.Specialist, st slo.EscalationState) {
	s.log.Warn("load escalation", "specialist", sp.Name, "step", st.Step, "priority_floor", st.Floor, "pressure",
		st.Pressure)
}

// pressureOf is what a new request of no priority would meet at the specialist: the least of its replicas in the role
// that is nearest to its end. Replicas that cannot be asked are the availability breaker's affair.
func pressureOf(rt *ensemble.Runtime, sp *ensemble.Specialist) float64 {
	least := map[string]float64{}
	for _, rep := range &rt.Replicas {
		if rep == nil || rep.Fleet.Spec().Specialist != sp.Name || !rep.Fleet.Healthy() || rep.Fleet.Draining() ||
			!rep.Fleet.Admits() {
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

// replicaPressure is how near a replica's Gate is to refusing: by the places in its queue, or by the wait that it
// foresees.
func replicaPressure(rep *ensemble.Replica, maxWait time.Duration) float64 {
	p := 0.0
	if rep.MaxWaiting > 0 {
		p = float64(rep.Gate.Stats().Waiting) / float64(rep.MaxWaiting)
	}
	switch a := rep.Gate.Probe(gate.Request{ID: "pressure", Priority: intake.PriorityLeast, PromptTokens: 1,
		MaxNew: 1}); {
	case a.State == scheduler.Refused:
		return 1
	case a.State == scheduler.Waiting && maxWait > 0:
		p = max(p, a.Estimate.Seconds()/maxWait.Seconds())
	}
	return p
}
