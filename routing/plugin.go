package routing

import (
	"context"

	"octet/routing/index"
)

// Plugin is one behaviour in a profile. Plugins serve many requests at once: what state they hold is safe for
// concurrent use.
type Plugin interface {
	// Name is the name under which the plugin is registered.
	Name() string
	// Reads declares every slot that the plugin reads. It is called once, by Build.
	Reads() []AnySlot
}

// Preparer computes what later stages need, once per request, before any candidate is looked at.
type Preparer interface {
	Plugin
	// Writes declares every slot that the plugin may write; at least one. It is called once, by Build.
	Writes() []AnySlot
	// Prepare writes its slots. An error ends the Select: what can be done without is left unwritten instead.
	Prepare(ctx context.Context, c *Context) error
}

// Filter removes candidates that cannot serve the request.
type Filter interface {
	Plugin
	// Filter removes from left the replicas that cannot serve the request. What it adds is ignored.
	Filter(v View, left *index.HostBitmap)
}

// Judge is a Filter that says what it means where it leaves no candidate.
type Judge interface {
	Verdict() Verdict
}

// Reasoner is a Filter that can say why it removes a replica.
type Reasoner interface {
	// Reason returns why, in a word of a closed list; empty if it is not known.
	Reason(v View, h index.HostID) string
}

// Scorer rates candidates by one criterion.
type Scorer interface {
	Plugin
	// Score sets out[i] for hosts[i], each in [0,1], higher is better. hosts ascends; out is zeroed before.
	Score(v View, hosts []index.HostID, out []float64)
}

// Picker chooses.
type Picker interface {
	Plugin
	// Pick returns one or more of scored, best first. It may reorder scored, which ascends by host, and return a part
	// of it.
	Pick(v View, scored []Scored) []Scored
}

// Needer is a Plugin that makes sense only beside others.
type Needer interface {
	// Needs names the plugins that the same profile must hold.
	Needs() []string
}

// Excluder is a Plugin that must not stand beside some others.
type Excluder interface {
	// Excludes names the plugins that the same profile must not hold.
	Excludes() []string
}

// Learner is a Plugin that wants to know what came of a decision.
type Learner interface {
	// Learn is told which replica was picked first, after every Select that is not dry. A retry may still serve the
	// request elsewhere.
	Learn(v View, picked index.HostID)
}

// Explainer is a Picker that can say why it picked no replica.
type Explainer interface {
	Why(v View) error
}

// Scored is a candidate with its weighted sum.
type Scored struct {
	Host  index.HostID
	Score float64
}

// Selector is one pass of Prepare, Filter, Score and Pick. A Profile is one.
type Selector interface {
	Select(ctx context.Context, c *Context) (Decision, error)
}

// Decision is what a Selector found.
type Decision struct {
	Role       Role
	Ranked     []Scored // best first, at least one; valid until the Context is released
	Candidates index.HostBitmap
	Eligible   index.HostBitmap // candidates that passed every filter
}

// Role is the part of a request that a replica serves.
type Role uint8

// Roles.
const (
	RoleBoth Role = iota
	RolePrefill
	RoleDecode
	RolePreprocess // what comes before prefill and needs no KV: rendering and tokenizing
)

// String returns the name that configs use.
func (r Role) String() string { return [...]string{"both", "prefill", "decode", "preprocess"}[r] }
