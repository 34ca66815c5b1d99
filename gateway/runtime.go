package gateway

import (
	"sync/atomic"
	"time"

	"octet/calibration"
	"octet/classifier"
	"octet/engine"
	"octet/gateway/head"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/gateway/sse"
	"octet/gateway/tenant"
	"octet/gateway/wire"
	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/scheduler/gate"
	"octet/slo"
)

// Runtime is all that one config generation decides. It is immutable once served: a request keeps the one that admitted
// it.
type Runtime struct {
	Generation  uint64
	Cascade     *classifier.Cascade
	Intents     []string // declared names, for knobs and metrics
	Judges      Judges   // whose verdicts on answers count
	Origins     []string // of pages that may send requests without a key
	Specialists []*Specialist
	Tenants     *tenant.Table
	Limits      Limits
	Shadow      Shadow
	Probation   Probation
	Stickiness  Stickiness
	ReadyWhen   string                   // any | all specialists
	Replicas    [index.MaxHosts]*Replica // by slot; nil where there is none
	names       *receipt.Names           // of Replicas
	byName      map[string]*Specialist
	knobs       map[string]*intentKnobs
	unspecified *intentKnobs // one of knobs
}

// intentKnobs are an intent's.
type intentKnobs struct{ shadow, divert, floor *slo.Dial }

// connect finds the knobs that requests of rt read.
func (rt *Runtime) connect(knobs *slo.Knobs) {
	rt.knobs = make(map[string]*intentKnobs, len(rt.Intents)+1)
	for _, name := range append(rt.Intents[:len(rt.Intents):len(rt.Intents)], classifier.Unspecified) {
		rt.knobs[name] = &intentKnobs{
			shadow: knobs.Dial(slo.ShadowThreshold + name), divert: knobs.Dial(slo.DivertThreshold + name),
			floor: knobs.Dial(slo.PriorityFloor + name),
		}
	}
	rt.unspecified = rt.knobs[classifier.Unspecified]
	for _, sp := range rt.Specialists {
		sp.step, sp.floor = knobs.Dial(slo.LoadStep+sp.Name), knobs.Dial(slo.LoadFloor+sp.Name)
	}
}

// noKnobs are those of an intent that has none.
var noKnobs intentKnobs

// intent returns an intent's knobs.
func (rt *Runtime) intent(name string) *intentKnobs {
	if name == classifier.Unspecified && rt.unspecified != nil {
		return rt.unspecified
	}
	if k := rt.knobs[name]; k != nil {
		return k
	}
	return &noKnobs
}

// Seal finishes a Runtime before it is served.
func (rt *Runtime) Seal() *Runtime {
	rt.byName = make(map[string]*Specialist, len(rt.Specialists))
	rt.names = new(receipt.Names)
	for h, rep := range rt.Replicas {
		if rep != nil {
			rt.names[h] = rep.Name
		}
	}
	members := map[string][]*fleet.Replica{}
	for _, rep := range &rt.Replicas {
		if rep != nil && rep.Fleet != nil {
			name := rep.Fleet.Spec().Specialist
			members[name] = append(members[name], rep.Fleet)
		}
	}
	for _, sp := range rt.Specialists {
		sp.fleet = fleet.NewSnapshot(members[sp.Name]...)
		sp.field = head.Lines(nil).Text("X-Specialist: ", sp.Name)
		rt.byName[sp.Name] = sp
	}
	for _, rep := range &rt.Replicas {
		if rep != nil && rep.quoted == nil {
			rep.seal()
		}
	}
	return rt
}

// seal spells out what requests and answers say of it.
func (r *Replica) seal() {
	r.quoted, r.field = wire.AppendQuoted(nil, r.Model), head.Lines(nil).Text("X-Replica: ", r.Opaque)
}

// few is how many names are sooner compared than looked up.
const few = 8

// Specialist returns the specialist of that name, nil when there is none.
func (rt *Runtime) Specialist(name string) *Specialist {
	if len(rt.Specialists) > few {
		return rt.byName[name]
	}
	for _, sp := range rt.Specialists {
		if sp.Name == name {
			return sp
		}
	}
	return nil
}

// lane is a specialist and its adapter, by the versions declared.
func (rt *Runtime) lane(specialist, adapter string) calibration.Lane {
	l := calibration.Lane{Specialist: specialist, Adapter: adapter}
	if sp := rt.Specialist(specialist); sp != nil {
		l.Version = sp.Version
		if adapter != "" {
			l.Version = sp.Versions[adapter]
		}
	}
	return l
}

// Specialist is one member of the ensemble as the gateway serves it.
type Specialist struct {
	Name      string
	BlockSize int               // tokens
	Version   string            // as declared; "" where nobody did
	Versions  map[string]string // the same of its adapters
	Fallback  string            // who stands in for it; "" is nobody
	Context   func() int64      // tokens, prompt and answer together, at most; nil or 0 is unbounded
	Draft     int               // tokens that its engines may draft ahead; 0 is none
	Adapters  []string
	Created   int64 // unix seconds, for /v1/models
	Board     *slo.Board
	Load      *slo.Escalation // nil is never escalated
	// of those whom its replicas sent away, its Gates know it too; nil: Retry-After is a Gate's own
	Away     *gate.Book
	Shed     *gate.Book    // of those whom its load sent away; nil: nobody gets past its floor by age
	Aging    time.Duration // for which coming back is worth a step of priority; 0 is never
	Workflow routing.Workflow
	// Executor carries out the plans of a Workflow that needs a pattern of its own; nil: step after step.
	Executor func(routing.Bounds) routing.Executor
	// Protocol is how the steps of one request's plan work together; nil is not at all.
	Protocol func() Protocol
	// Seed fills the slots that the pipeline takes as given.
	Seed func(c *routing.Context, s *fleet.Snapshot)
	// Planned is told of each decision that counts, what came of it and how long it took; nil: nobody wants to know.
	Planned func(c *routing.Context, plan routing.Plan, err error, took time.Duration)
	// Footprint makes f what the pipeline found out about the prompt.
	Footprint func(v routing.View, f *Footprint)
	// Depths returns, by replica, how many leading blocks of the prompt it is believed to hold; nil: nobody knows.
	Depths func(v routing.View) *[index.MaxHosts]uint16
	// Held returns the same of one replica, for decisions that needed no depths; nil: nobody knows.
	Held func(v routing.View, h index.HostID) int
	// Tiers returns in which tiers replica h holds the first so many blocks of the prompt; nil: nobody knows.
	Tiers func(v routing.View, h index.HostID, blocks int) InTiers
	// Routed is told of each prompt that a replica was sent, once it has a place there, and when; nil: nobody wants to
	// know.
	Routed  func(v routing.View, r *Replica, now time.Time)
	handles *metrics.Specialist
	fleet   *fleet.Snapshot // its replicas of this generation, made by Seal

	timed atomic.Int64 // when a decision was timed last, since Server.began
	step  *slo.Dial    // its knobs
	floor *slo.Dial
	field head.Lines // of an answer's head: its name
}

// context is the longest prompt and answer together, in tokens; 0 is unbounded.
func (sp *Specialist) context() int {
	if sp.Context == nil {
		return 0
	}
	return int(sp.Context())
}

func (sp *Specialist) protocol() Protocol {
	if sp.Protocol == nil {
		return plain{}
	}
	return sp.Protocol()
}

// Footprint is what a prompt will occupy.
type Footprint struct {
	Chain   []kvpool.BlockHash // of the first prompt
	Tokens  int                // of all prompts
	Exact   bool               // Tokens was counted by the engine's tokenizer, not estimated from text
	Rest    gate.Further       // of Tokens: what comes behind the first prompt of a list
	Longest int                // tokens of the longest prompt of a list; 0 of one prompt
}

// Replica is one engine as the gateway dispatches to it.
type Replica struct {
	// What every request looks at lies together.
	Client   engine.Client
	Fleet    *fleet.Replica
	Gate     *gate.Gate
	Accuracy *metrics.Accuracy // of the hits predicted here; nil where nobody counts
	answers  sse.Answers       // that were not streamed, as its engine writes them
	Name     string
	Model    string // the name by which the engine knows the specialist
	APIKey   string
	quoted   []byte     // Model as JSON has it
	field    head.Lines // of an answer's head: Opaque

	Host            index.HostID
	ForwardPriority bool
	PassUnknown     bool // bodies reach it with members that its kind of engine is not known to have
	PrefillHeader   bool // its engine has the prompt computed where X-Prefiller-Host-Port says
	BootstrapPort   int  // where an SGLang prefill engine is met; 0 without
	Kind            engine.Kind
	// the kind that its engine says it is of, where that is another; nil where none asks
	Contradiction func() string
	Opaque        string            // what clients see as X-Replica
	MaxWaiting    int               // that the Gate lets wait
	Shadows       atomic.Int32      // shadow requests that it answers now
	Tokens        func() TokenCheck // nil where nobody compares
}

func (rep *Replica) contradiction() string {
	if rep.Contradiction == nil {
		return ""
	}
	return rep.Contradiction()
}

// TokenCheck is what comparing our tokens with an engine's own has shown. A replica that differs is scored
// approximately.
type TokenCheck struct {
	State    string `json:"state"` // unchecked | unknown | exact | approximate
	Reason   string `json:"reason,omitempty"`
	Checked  uint64 `json:"checked"`  // prompts compared
	Differed uint64 `json:"differed"` // of those
}

// Limits bound what one client can cost. Every one is a config key.
type Limits struct {
	BodyBytes             int64
	ResponseBytes         int64 // of a unary answer
	HeaderBytes           int
	HeaderFields          int // of one request; 0 is no limit
	Connections           int // of clients
	ConnectionsPerAddress int
	QueueBytes            int64 // of all bodies that are held
	Inbound               Inbound
	EventBytes            int // of one event of an engine's stream; 0 is 1 MiB
	HeaderTimeout         time.Duration
	KeepaliveTimeout      time.Duration // of a connection without a request
	JSONDepth             int
	Messages              int
	Prompts               int // of one completion
	Choices               int // n and best_of
	Entries               int // of any other list or object of a body
	Stops                 int // stop strings
	ParameterBytes        int // of a parameter that is neither messages, nor prompts, nor tools
	MaxStreams            int
	MaxAttempts           int
	Continuations         int     // of one stream, after engines that died
	RetryBudget           float64 // retries as a share of a minute's requests, or of those in flight
	RetryBurst            int     // retries within a minute, however few requests there are
	BodyTimeout           time.Duration
	AnswerTimeout         time.Duration // of a unary answer
	MaxQueueWait          time.Duration // at a replica's Gate
	TTFTTimeout           time.Duration
	IdleTimeout           time.Duration
	WriteTimeout          time.Duration
	Drain                 time.Duration
}

func (sp *Specialist) depths(v routing.View) *[index.MaxHosts]uint16 {
	if sp.Depths == nil {
		return nil
	}
	return sp.Depths(v)
}

// predicted returns how many leading blocks of the prompt replica h is believed to hold.
func (sp *Specialist) predicted(v routing.View, h index.HostID) int {
	if depths := sp.depths(v); depths != nil {
		return int(depths[h])
	}
	if sp.Held != nil { // where there was nothing to choose, nobody has looked
		return sp.Held(v, h)
	}
	return 0
}
