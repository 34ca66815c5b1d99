package ensemble

import (
	"octet/slo"
)

// Escalation returns the step of the load escalation that is in force.
func (sp *Specialist) Escalation() int {
	v, _ := sp.step.Value()
	return int(v)
}

// LoadFloor returns the priority floor that load demands of an intent's requests: that of the escalation's last step,
// for the intents that load the specialist. A floor set by an operator is for all intents.
func (sp *Specialist) LoadFloor(intent string) int {
	floor, overridden := sp.HighestFloor()
	if floor > slo.LeastPriority && !overridden && !sp.Load.Loads(intent) {
		return slo.LeastPriority
	}
	return floor
}

// HighestFloor returns LoadFloor for the intents that load the specialist, and true if an operator has set it.
func (sp *Specialist) HighestFloor() (floor int, overridden bool) {
	if sp.Load == nil || sp.Escalation() < slo.Throttling {
		return slo.LeastPriority, false
	}
	v, overridden, _ := sp.floor.Lookup()
	return int(v), overridden
}

// AllowsShadow returns true if a copy of a request may go to the specialist now. Under load only probes may, by which a
// demoted specialist recovers.
func (sp *Specialist) AllowsShadow(probe bool) bool { return probe || sp.Escalation() == slo.Normal }
