package ensemble

import (
	"slices"
	"sync/atomic"
	"time"

	"octet/adapters"
	"octet/gateway/head"
	"octet/gateway/metrics"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler/gate"
	"octet/scheduler/hold"
	"octet/slo"
)

// Specialist is one member of the ensemble as the gateway serves it.
type Specialist struct {
	Name      string
	BlockSize int               // tokens
	Version   string            // as declared; may be ""
	Versions  map[string]string // of its adapters, likewise
	Fallback  string            // specialist that stands in for it; "" for none
	Context   func() int64      // most tokens of prompt and answer together; nil or zero means no limit
	Draft     int               // tokens that its engines may draft ahead
	Images    bool              // its engines take images
	PerImage  int               // tokens that an image counts, which engines do not tell ahead
	Adapters  []string
	Keeper    *adapters.Keeper // of its adapters; nil if their engines are left to themselves
	Created   int64            // unix seconds, for /v1/models
	Board     *slo.Board
	Load      *slo.Escalation // nil if load never escalates
	// requests that its replicas refused, which its Gates book too; nil if Retry-After is each Gate's own
	Away     *gate.Book
	Shed     *gate.Book    // requests that its load refused; nil if age never lifts a request over the floor
	Aging    time.Duration // after which coming back is worth a step of priority; zero means never
	Hold     *hold.Queue   // of requests while none of its replicas serves; nil if none is held
	Coming   bool          // replicas may join by themselves: they are looked for, or wait for a slot
	Workflow routing.Workflow
	Pipeline Pipeline
	Insight  Insight  // nil if nothing is known of the replicas' caches
	Evidence Evidence // nil if what engines deliver teaches nothing of their caches
	// blocks of BlockSize in one of a replica's engine's, at least 1, by slot; nil: 1 for all
	Grain   func(index.HostID) int
	Metrics *metrics.Specialist // set by Runtime.Connect

	snapshot *fleet.Snapshot // its replicas of this generation, made by Seal
	headLine head.Lines      // of an answer's head: its name; made by Seal
	shown    wire.Shown      // what its engines put into prompts; made by Seal
	step     *slo.Dial       // its knobs, found by Connect
	floor    *slo.Dial
	// when the plugins of a decision were timed last, in nanoseconds of uptime; shared with copies; made by Seal
	timed *atomic.Int64
}

// Pipeline is what the gateway asks of a specialist's plugins around a decision.
type Pipeline interface {
	// Seed fills the slots that the plugins take as given.
	Seed(c *routing.Context, s *fleet.Snapshot)
	// Footprint sets f to what the plugins found out about the prompt.
	Footprint(v routing.View, f *Footprint)
	// Protocol returns how the steps of one request's plan work together, which goes that way of the Workflow.
	Protocol(way int) Protocol
	// Planned reports a decision that counts, its error, and how long it took.
	Planned(c *routing.Context, plan routing.Plan, err error, took time.Duration)
}

// Insight is what is known of a prompt in the prefix caches of a specialist's replicas.
type Insight interface {
	// Depths returns how many leading blocks of the prompt each replica is believed to hold, by its slot; nil if the
	// plugins did not look.
	Depths(v routing.View) *[index.MaxHosts]uint16
	// Held returns the same of one replica, also for decisions that needed no depths.
	Held(v routing.View, h index.HostID) int
	// Tiers returns in which tiers replica h holds the first so many blocks of the prompt.
	Tiers(v routing.View, h index.HostID, blocks int) InTiers
	// Routed reports a prompt that a replica is about to be sent: it has a place there since now.
	Routed(v routing.View, r *Replica, now time.Time)
}

// Evidence is what delivered hits are held against.
type Evidence interface {
	// Foretell returns how many leading blocks of the prompt replica h's events tell of, and how many it holds with
	// what is guessed. believed is what Insight says, and is right unless events leave something open.
	Foretell(v routing.View, h index.HostID, believed int) (known, all int)
	// Delivered reports how many tokens of the prompt were in the replica's cache, of which its events had told of
	// known, and all were foretold.
	Delivered(r *Replica, known, all, delivered int)
}

// InTiers is how many of a prompt's leading blocks a replica holds in each tier, by the fastest that has them.
type InTiers [index.Tiers]int

// Snapshot returns the specialist's replicas of this generation.
func (sp *Specialist) Snapshot() *fleet.Snapshot { return sp.snapshot }

// Shown returns what of a chat its engines put into the prompt beside messages.
func (sp *Specialist) Shown() wire.Shown { return sp.shown }

// HeadLine returns the line of an answer's head that names the specialist.
func (sp *Specialist) HeadLine() head.Lines { return sp.headLine }

// Edition returns the name by which engines know the edition of an adapter that requests are sent to; "" for "".
func (sp *Specialist) Edition(adapter string) string {
	if sp.Keeper == nil || adapter == "" {
		return adapter
	}
	return sp.Keeper.Edition(adapter)
}

// HoldLoaded has a replica keep an adapter that is served by a name, until Release. False if it is not loaded there.
func (sp *Specialist) HoldLoaded(rep *Replica, served string) (adapters.Hold, bool) {
	if served == "" || sp.Keeper == nil {
		return adapters.Hold{}, true
	}
	return sp.Keeper.HoldLoaded(uint16(rep.Host), served)
}

// Has returns true if the specialist has an adapter, or if adapter is "".
func (sp *Specialist) Has(adapter string) bool {
	return adapter == "" || slices.Contains(sp.Adapters, adapter)
}

// Takes returns true if the specialist's engines take what a body holds beside text.
func (sp *Specialist) Takes(body *wire.Request) bool { return sp.Images || body.Images() == 0 }

// MaxContext returns the most tokens that prompt and answer may have together; zero means no limit.
func (sp *Specialist) MaxContext() int {
	if sp.Context == nil {
		return 0
	}
	return int(sp.Context())
}

// DueForTiming returns true at most once in each span of uptime: the plugins of this decision are to be timed.
func (sp *Specialist) DueForTiming(uptime, span time.Duration) bool {
	last := sp.timed.Load()
	return int64(uptime)-last >= int64(span) && sp.timed.CompareAndSwap(last, int64(uptime))
}

// Depths returns how many leading blocks of the prompt each replica is believed to hold; nil if that is not known.
func (sp *Specialist) Depths(v routing.View) *[index.MaxHosts]uint16 {
	if sp.Insight == nil {
		return nil
	}
	return sp.Insight.Depths(v)
}

// Held returns how many leading blocks of the prompt replica h is believed to hold.
func (sp *Specialist) Held(v routing.View, h index.HostID) int {
	if sp.Insight == nil {
		return 0
	}
	if depths := sp.Insight.Depths(v); depths != nil {
		return int(depths[h])
	}
	return sp.Insight.Held(v, h)
}

// GrainOf returns how many blocks of BlockSize one of replica h's engine's is.
func (sp *Specialist) GrainOf(h index.HostID) int {
	if sp.Grain == nil {
		return 1
	}
	return sp.Grain(h)
}

// Tiers returns in which tiers replica h holds the first so many blocks of the prompt.
func (sp *Specialist) Tiers(v routing.View, h index.HostID, blocks int) InTiers {
	if sp.Insight == nil {
		return InTiers{}
	}
	return sp.Insight.Tiers(v, h, blocks)
}

// Routed notes that a replica is sent a prompt, now.
func (sp *Specialist) Routed(v routing.View, r *Replica, now time.Time) {
	if sp.Insight != nil {
		sp.Insight.Routed(v, r, now)
	}
}
