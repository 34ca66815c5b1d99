package ensemble

import (
	"sync/atomic"

	"octet/calibration"
	"octet/classifier"
	"octet/engine"
	"octet/gateway/head"
	"octet/gateway/metrics"
	"octet/gateway/tenant"
	"octet/gateway/trace"
	"octet/gateway/wire"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/slo"
)

// Runtime is all that one config generation decides. It is immutable once served; a request keeps the one that admitted
// it to its end.
type Runtime struct {
	Generation  uint64
	Cascade     *classifier.Cascade
	Intents     []string // declared names, for knobs and metrics
	Judges      Judges   // tenants whose verdicts on answers count
	Origins     []string // of pages that may send requests without a key
	Specialists []*Specialist
	Tenants     *tenant.Table
	Limits      Limits
	Shadow      Shadow
	Probation   Probation
	Stickiness  Stickiness
	ReadyWhen   string                   // any | all specialists
	Tracer      *trace.Tracer            // nil: requests are not traced
	Replicas    [index.MaxHosts]*Replica // by slot; nil in a slot without a replica
	names       *[index.MaxHosts]string  // of Replicas; receipts refer to it
	byName      map[string]*Specialist
	knobs       map[string]*Knobs // by intent
}

// Knobs are the knobs of one intent. A nil Dial has no value.
type Knobs struct{ Shadow, Divert, Floor *slo.Dial }

// Connect finds the knobs and the metrics that requests of rt use. It is called once, before rt is served. A specialist
// that rt shares with a Runtime in force is connected already, and may be read meanwhile: it stays as it is.
func (rt *Runtime) Connect(knobs *slo.Knobs, series *metrics.Series) {
	rt.knobs = make(map[string]*Knobs, len(rt.Intents)+1)
	for _, name := range append(rt.Intents[:len(rt.Intents):len(rt.Intents)], classifier.Unspecified) {
		rt.knobs[name] = &Knobs{
			Shadow: knobs.Dial(slo.ShadowThreshold + name), Divert: knobs.Dial(slo.DivertThreshold + name),
			Floor: knobs.Dial(slo.PriorityFloor + name),
		}
	}
	for _, sp := range rt.Specialists {
		if sp.Metrics != nil {
			continue
		}
		sp.step, sp.floor = knobs.Dial(slo.LoadStep+sp.Name), knobs.Dial(slo.LoadFloor+sp.Name)
		sp.Metrics = series.Specialist(sp.Name)
	}
}

// noKnobs are the knobs of an intent that is not declared.
var noKnobs Knobs

// Knobs returns an intent's knobs.
func (rt *Runtime) Knobs(name string) *Knobs {
	if k := rt.knobs[name]; k != nil {
		return k
	}
	return &noKnobs
}

// Seal finishes rt from its exported fields; Server.Serve calls Connect after it.
func (rt *Runtime) Seal() *Runtime {
	rt.byName = make(map[string]*Specialist, len(rt.Specialists))
	rt.names = new([index.MaxHosts]string)
	for h, rep := range rt.Replicas {
		if rep != nil {
			rt.names[h] = rep.Name
		}
	}
	members := map[string][]*fleet.Replica{}
	shown := map[string]wire.Shown{}
	for _, rep := range &rt.Replicas {
		if rep != nil && rep.Fleet != nil {
			name := rep.Fleet.Spec().Specialist
			shown[name] = shownTo(rep.Kind.Rendering, shown[name], len(members[name]) == 0)
			members[name] = append(members[name], rep.Fleet)
		}
	}
	for _, sp := range rt.Specialists {
		sp.shown = shown[sp.Name]
		if sp.timed == nil {
			sp.timed = new(atomic.Int64)
		}
		sp.snapshot = fleet.NewSnapshot(members[sp.Name]...)
		sp.headLine = head.Lines(nil).Text("X-Specialist: ", sp.Name)
		rt.byName[sp.Name] = sp
	}
	for _, rep := range &rt.Replicas {
		if rep != nil && rep.quoted == nil {
			rep.Seal()
		}
	}
	return rt
}

// shownTo adds an engine to those that are shown prompts: where engines differ, the prompt has what any of them shows.
func shownTo(e engine.Rendering, others wire.Shown, first bool) wire.Shown {
	return wire.Shown{Chosen: e.Chosen && (first || others.Chosen), Format: e.Format || others.Format}
}

// Seal renders what requests and answers say of the replica. Runtime.Seal calls it.
func (r *Replica) Seal() {
	r.quoted, r.headLine = wire.AppendQuoted(nil, r.Model), head.Lines(nil).Text("X-Replica: ", r.Opaque)
}

// ReplicaNames returns the names of Replicas, by slot.
func (rt *Runtime) ReplicaNames() *[index.MaxHosts]string { return rt.names }

// Specialist returns the specialist of that name, or nil.
func (rt *Runtime) Specialist(name string) *Specialist { return rt.byName[name] }

// Replica returns the replica of that name, or nil.
func (rt *Runtime) Replica(name string) *Replica {
	for _, rep := range &rt.Replicas {
		if rep != nil && rep.Name == name {
			return rep
		}
	}
	return nil
}

// Lane returns a specialist and its adapter with the versions declared.
func (rt *Runtime) Lane(specialist, adapter string) calibration.Lane {
	l := calibration.Lane{Specialist: specialist, Adapter: adapter}
	if sp := rt.Specialist(specialist); sp != nil {
		l.Version = sp.Version
		if adapter != "" {
			l.Version = sp.Versions[adapter]
		}
	}
	return l
}
