package ensemble

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"octet/engine"
	"octet/gateway/head"
	"octet/gateway/metrics"
	"octet/gateway/sse"
	"octet/gateway/trace"
	"octet/gateway/wire"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler/gate"
)

// Replica is one engine as the gateway dispatches to it.
type Replica struct {
	// Every request reads these: they lie together.
	Client   engine.Client
	Fleet    *fleet.Replica
	Gate     *gate.Gate
	Accuracy *metrics.Accuracy // of the hits predicted here; nil counts nothing
	Answers  sse.Answers       // the shape of its unary answers
	Name     string
	Source   string // what has found it; empty if the configuration lists it
	Model    string // the name by which the engine knows the specialist
	APIKey   string
	quoted   []byte     // Model as a JSON string; made by Seal
	headLine head.Lines // of an answer's head: Opaque; made by Seal

	Host            index.HostID
	ForwardPriority bool
	PassUnknown     bool // bodies are sent to it with members that its kind of engine is not known to take
	PrefillHeader   bool // its engine has the prompt computed by the one that X-Prefiller-Host-Port names
	BootstrapPort   int  // where an SGLang prefill engine is met; zero for others
	Kind            engine.Kind
	Rank            engine.Rank // which of its engine's data-parallel ranks it is
	// returns the kind that its engine says it is of, if that is another than Kind; nil if engines are not asked
	Contradiction func() string
	// returns the number of an adapter in its engine, if requests name adapters so; nil if nothing is known of adapters
	AdapterNumber func(served string) (int, bool)
	Opaque        string         // what clients see as X-Replica
	Doors         *atomic.Uint32 // an engine.Doors: what its engine serves beside chat completions; nil for none
	Usage         atomic.Uint32  // whether its engine tells the usage of streams when asked: see the constants
	Reasoning     atomic.Uint32  // whether its engine continues from an answer's reasoning: see the constants
	Context       *atomic.Int64  // tokens of prompt and answer, as its engine tells; 0 or nil if they are not known
	MaxWaiting    int            // requests in the Gate's queue
	Shadows       atomic.Int32   // shadow requests that it answers now
	// which revision of its weights its engine tells; nil if engines are not asked, holds nil while it has not told
	Weights *atomic.Pointer[string]
	Tokens  func() TokenCheck // nil if tokens are not compared
	// asks the engine whether it sleeps, and notes what it says; nil if engines are not asked
	Asleep func(context.Context) bool
}

// What is known of whether a replica's engine takes stream_options.include_usage.
const (
	UsageUntried uint32 = iota
	UsageTold
	UsageRefused
)

// What is known of whether a replica's model sees the reasoning of an answer that its engine is to continue, which is
// the template's matter.
const (
	ReasoningUntried uint32 = iota
	ReasoningShown
	ReasoningHidden
)

// ContradictedKind returns the kind that the engine says it is of, if that is another than Kind; else "".
func (r *Replica) ContradictedKind() string {
	if r.Contradiction == nil {
		return ""
	}
	return r.Contradiction()
}

// Revision returns the revision of the weights that the engine serves, as it tells it; "" if it has not told.
func (r *Replica) Revision() string {
	if r.Weights == nil {
		return ""
	}
	if told := r.Weights.Load(); told != nil {
		return *told
	}
	return ""
}

// MaxContext returns how many tokens of prompt and answer its engine takes; 0 if that is not known.
func (r *Replica) MaxContext() int {
	if r.Context == nil {
		return 0
	}
	return int(r.Context.Load())
}

// FellAsleep returns true if the engine, which has refused a request, says that it sleeps. It asks the engine.
func (r *Replica) FellAsleep(ctx context.Context) bool { return r.Asleep != nil && r.Asleep(ctx) }

// Shorter returns true if another replica of its specialist that could do its part takes more tokens, or may.
func (r *Replica) Shorter(rt *Runtime) bool {
	own, spec := r.MaxContext(), r.Fleet.Spec()
	for _, other := range &rt.Replicas {
		if other == nil || other.Fleet.Spec().Specialist != spec.Specialist || !other.Fleet.Spec().Covers(spec.Role) {
			continue
		}
		if most := other.MaxContext(); most != own && (most == 0 || most > own) {
			return true
		}
	}
	return false
}

// Reasons reports whether the replica's engine is taken to show its model the reasoning of an answer that it continues.
func (r *Replica) Reasons() bool {
	return r.Kind.Streams.Reasoning && r.Reasoning.Load() != ReasoningHidden
}

// SeenToReason reports whether the replica's engine was seen to show its model the reasoning of an answer that it
// continued.
func (r *Replica) SeenToReason() bool { return r.Reasoning.Load() == ReasoningShown }

// Serves returns true if the engine serves a door itself.
func (r *Replica) Serves(door engine.Doors) bool {
	return r.Doors != nil && engine.Doors(r.Doors.Load())&door != 0
}

// ServesNot notes that the engine does not serve a door, whatever was told of it.
func (r *Replica) ServesNot(door engine.Doors) { r.Doors.And(^uint32(door)) }

// HeadLine returns the line of an answer's head that names the replica.
func (r *Replica) HeadLine() head.Lines { return r.headLine }

// ModelName returns the name by which the engine knows the specialist with that adapter, also as a JSON string.
func (r *Replica) ModelName(adapter string) (name string, quoted []byte) {
	if adapter == "" {
		return r.Model, r.quoted
	}
	name = r.Kind.AdapterModel(r.Model, adapter)
	return name, wire.AppendQuoted(nil, name)
}

// Takes returns true if the replica may be sent a body: its kind of engine knows every member, or unknown ones are
// passed on.
func (r *Replica) Takes(body *wire.Request) bool { return r.PassUnknown || body.TakenBy(r.Kinds()) }

// Kinds returns the kind of the replica's engine, as a set.
func (r *Replica) Kinds() uint32 { return uint32(r.Kind.Bit) }

// OnlyAfterMeeting returns true if the engine serves no request whose prompt another engine has not computed for it.
func (r *Replica) OnlyAfterMeeting() bool { return r.Fleet.Spec().OnlyHanded }

// TokensChecked returns what comparing tokens with the engine has shown, and false if they are not compared.
func (r *Replica) TokensChecked() (TokenCheck, bool) {
	if r.Tokens == nil {
		return TokenCheck{}, false
	}
	c := r.Tokens()
	return c, c.State != ""
}

// TokenCheck is the result of comparing the gateway's tokens with an engine's own. A replica that differs is scored
// approximately.
type TokenCheck struct {
	State    string `json:"state"` // unchecked | unknown | exact | approximate
	Reason   string `json:"reason,omitempty"`
	Checked  uint64 `json:"checked"`  // prompts compared
	Differed uint64 `json:"differed"` // of those
}

// RankField returns the header field by which the engine is told which of its ranks a request is for; both are "" where
// it is told by the body, or has no ranks. The replica's own client sends it by itself.
func (r *Replica) RankField() (name, value string) {
	if _, ranked := r.Rank.Number(); !ranked || r.Kind.Ranks.Header == "" {
		return "", ""
	}
	return r.Kind.Ranks.Header, r.Rank.String()
}

// Endpoint returns where the replica's engine is, as host:port; "" where its URL has no such.
func (r *Replica) Endpoint() string {
	at, err := url.Parse(r.Fleet.Spec().URL)
	switch {
	case err != nil || at.Hostname() == "":
		return ""
	case at.Port() != "":
		return net.JoinHostPort(at.Hostname(), at.Port())
	case at.Scheme == "https":
		return net.JoinHostPort(at.Hostname(), "443")
	}
	return net.JoinHostPort(at.Hostname(), "80")
}

// Prefix returns the path at which the replica's engine has its API, before what the API says; "" for the root.
func (r *Replica) Prefix() string {
	at, err := url.Parse(r.Fleet.Spec().URL)
	if err != nil {
		return ""
	}
	return strings.TrimRight(at.Path, "/")
}

// Traced returns where the replica's engine is, as traces tell it.
func (r *Replica) Traced() trace.Engine {
	e := trace.Engine{Kind: r.Kind.Name, Model: r.Model}
	if at, err := url.Parse(r.Fleet.Spec().URL); err == nil {
		e.Host = at.Hostname()
		e.Port, _ = strconv.Atoi(at.Port()) // 0: the scheme's own
	}
	return e
}
