// Package escalate relieves specialists under load: it takes their pressure, has each specialist's slo.Escalation draw
// the consequence, and puts that into the knobs that requests read.
//
//	Gates ──pressure──▶ slo.Escalation ──step, floor──▶ knobs of the specialist ─▶ requests
//	                                     └──floor─────▶ knobs of the intents that load it
//
// Invariants:
//
//  1. Observe is called by one goroutine. Requests read the knobs and never wait for it.
//  2. An operator's override of a knob outranks what is set here.
//  3. A floor of an intent is raised by load only, and goes back to its configured value with the load.
package escalate

import (
	"log/slog"
	"time"

	"octet/gateway/ensemble"
	"octet/slo"
)

// by is the author of the overrides that are set here.
const by = "escalation"

// Controller sets the knobs of the specialists, and of the intents that load them, by the specialists' pressure.
type Controller struct {
	Knobs *slo.Knobs
	Log   *slog.Logger

	demands map[string]demand // on intents, in force; owned by Observe
}

// demand is a priority floor that load demands of an intent.
type demand struct {
	floor int
	why   string // "" if nothing is demanded
}

// Adopt sets the knobs of a Runtime's specialists as their escalations stand. A new specialist stands at Normal,
// whatever was set for one of its name before.
func (c *Controller) Adopt(rt *ensemble.Runtime) {
	for _, sp := range rt.Specialists {
		if sp.Load != nil {
			c.adjust(sp, sp.Load.State())
		}
	}
}

// Observe takes the pressure of every specialist and sets the knobs by it. It is to be called often: a pressure counts
// as lasting between two calls.
func (c *Controller) Observe(rt *ensemble.Runtime, now time.Time) {
	for _, sp := range rt.Specialists {
		if sp.Load == nil {
			continue
		}
		step, floor := sp.Load.Step(), sp.Load.Floor()
		sp.Load.Observe(pressureOf(rt, sp), now)
		if st := sp.Load.State(); st.Step != step || st.Floor != floor {
			c.adjust(sp, st)
			c.Log.Warn("load escalation", "specialist", sp.Name, "step", st.Step, "priority_floor", st.Floor,
				"pressure",
				st.Pressure)
		}
	}
	c.raise(demandsOf(rt))
}

// adjust puts the state of a specialist's escalation into its knobs.
func (c *Controller) adjust(sp *ensemble.Specialist, st slo.EscalationState) {
	why := st.Why()
	c.Knobs.Adjust(slo.LoadStep+sp.Name, slo.Override{Value: float64(st.Step), By: by, Why: why})
	c.Knobs.Adjust(slo.LoadFloor+sp.Name, slo.Override{Value: float64(st.Floor), By: by, Why: why})
}

// demandsOf returns the floors that specialists under load demand of the intents that load them: of several, the
// highest.
func demandsOf(rt *ensemble.Runtime) map[string]demand {
	demands := map[string]demand{}
	for _, sp := range rt.Specialists {
		if sp.Load == nil || sp.Escalation() < slo.Throttling {
			continue
		}
		for _, intent := range sp.Load.Intents() {
			if floor := sp.LoadFloor(intent); floor > demands[intent].least() {
				demands[intent] = demand{floor, "it loads " + sp.Name}
			}
		}
	}
	return demands
}

// raise puts demands into the knobs of their intents. A floor that is no longer demanded goes back to its configured
// value.
func (c *Controller) raise(demands map[string]demand) {
	for intent, d := range demands {
		if c.demands[intent] != d {
			own, _ := c.Knobs.Default(slo.PriorityFloor + intent)
			c.Knobs.Adjust(slo.PriorityFloor+intent,
				slo.Override{Value: max(own, float64(d.floor)), By: by, Why: d.why})
		}
	}
	for intent := range c.demands {
		if demands[intent].why == "" {
			c.Knobs.Reset(slo.PriorityFloor + intent)
		}
	}
	c.demands = demands
}

// least is the demanded floor; slo.LeastPriority if nothing is demanded.
func (d demand) least() int {
	if d.why == "" {
		return slo.LeastPriority
	}
	return d.floor
}
