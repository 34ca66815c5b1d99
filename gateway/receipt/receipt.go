package receipt

import (
	"slices"
	"time"

	"octet/routing"
	"octet/routing/index"
)

// Receipt is the full record of one decision. Its JSON is the answer of GET /v1/receipts/{id}.
type Receipt struct {
	ID        string    `json:"id"`
	RequestID string    `json:"request_id"`
	TraceID   string    `json:"trace_id,omitempty"` // of its trace; absent if it was sent nowhere
	Time      time.Time `json:"time"`               // of the request's arrival
	Kind      string    `json:"kind"`               // chat | completion
	Asked     Asked     `json:"asked"`
	Decision  Decision  `json:"decision"`
	Prompt    Prompt    `json:"prompt"`
	Routing   []Routing `json:"routing"` // one for every pass through a specialist's pipeline, in their order
	Attempts  []Attempt `json:"attempts"`
	Result    Result    `json:"result"`
	Outcomes  []Outcome `json:"outcomes,omitempty"` // as of Find

	verdicts *verdicts // nil before Find
}

// Asked is what the client said.
type Asked struct {
	Model          string `json:"model"`
	Intent         string `json:"intent,omitempty"`
	Adapter        string `json:"adapter,omitempty"`
	Replica        string `json:"replica,omitempty"` // that the request named
	Session        bool   `json:"session"`
	Priority       int    `json:"priority"`
	PriorityInUse  int    `json:"priority_in_use"` // after the tenant's ceiling
	DeadlineMs     int64  `json:"deadline_ms,omitempty"`
	TTFTDeadlineMs int64  `json:"ttft_deadline_ms,omitempty"`
	Stream         bool   `json:"stream"`
	Policy         string `json:"policy"` // greedy | typical | temperature
	MaxTokens      int    `json:"max_tokens,omitempty"`
}

// Decision is which specialist was chosen and by what.
type Decision struct {
	Specialist    string             `json:"specialist"`
	Adapter       string             `json:"adapter,omitempty"`
	Version       string             `json:"version,omitempty"`   // of the adapter, else of the specialist
	Probation     bool               `json:"probation,omitempty"` // this version has not shown yet that it is good
	RoutedBy      string             `json:"routed_by"`
	Rule          string             `json:"rule,omitempty"`
	Cues          []string           `json:"cues,omitempty"`
	Confidence    *float64           `json:"confidence,omitempty"` // absent if there is no probability
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	// which classifier gave the probabilities, http or model; absent where none is out of process
	Classifier string `json:"classifier,omitempty"`
	// why the one out of process gave none; absent if it did, or was not asked
	ClassifierOutage string `json:"classifier_outage,omitempty"`
	Second           string `json:"second,omitempty"`
	SecondViable     bool   `json:"second_viable,omitempty"`
	Shadow           string `json:"shadow,omitempty"`
	// why there was a shadow (threshold | probe | probation), or else why there was none: see decide and shadow
	ShadowWhy string `json:"shadow_why,omitempty"`
	// in force when it was decided
	ShadowThreshold float64 `json:"shadow_threshold"`
	DivertThreshold float64 `json:"divert_threshold"`
	Demoted         string  `json:"demoted,omitempty"` // the first choice, for which Specialist stands in
	// the demoted specialist that is owed a copy of this request
	Probe string `json:"probe,omitempty"`

	Intent string `json:"-"` // in the cascade's words: "unspecified" if none was declared
	// the declared versions of the specialist, also where Version is its adapter's, and of the one that got the copy
	Base, ShadowBase string `json:"-"`
}

// Prompt is what the pipeline found out about the prompt.
type Prompt struct {
	Tokens int  `json:"tokens"`
	Exact  bool `json:"exact"` // counted by the engine's tokenizer, not estimated
	Blocks int  `json:"blocks"`
}

// Routing is one pass through a specialist's pipeline.
type Routing struct {
	Specialist string `json:"specialist"`
	Step       string `json:"step,omitempty"`    // of the plan; absent if there is only one
	Skipped    string `json:"skipped,omitempty"` // why the step was left out
	// the profile that a rule of the specialist chose, and the rule; absent if there was no choice
	Profile string         `json:"profile,omitempty"`
	Rule    string         `json:"profile_rule,omitempty"`
	Trace   *routing.Trace `json:"trace,omitempty"` // each candidate's verdicts and scores, rendered by Find
	Hit     Hit            `json:"hit,omitzero"`    // absent without a pick
	Error   string         `json:"error,omitempty"`

	selected *routing.Selected // what Trace is rendered from; nil if there is nothing to render
	names    *Names
}

// Names are replicas' names by host, as of one configuration.
type Names = [index.MaxHosts]string

// Hit is what the index believed of the prefix cache when a replica was picked.
type Hit struct {
	Replica     string `json:"replica"` // the pick
	Chosen      int    `json:"chosen"`  // tokens of the prompt that it holds
	Best        int    `json:"best"`    // the most tokens that an eligible replica holds
	BestReplica string `json:"best_replica"`
	// lost / (novel + lost): the share of what is computed that some eligible replica holds
	Regret float64 `json:"regret"`
}

// Attempt is one replica's turn.
type Attempt struct {
	Specialist      string  `json:"specialist"`
	Step            string  `json:"step,omitempty"` // of the plan; absent if there is only one
	Replica         string  `json:"replica"`
	Revision        string  `json:"revision,omitempty"` // of the weights, as the engine tells it; mixed
	QueueMs         float64 `json:"queue_ms"`
	PredictedTokens int     `json:"predicted_cached_tokens"`
	DeliveredTokens *int    `json:"delivered_cached_tokens,omitempty"` // of its own cache, if the engine says so
	Outcome         string  `json:"outcome"`                           // ok, or the error's code
	Detail          string  `json:"detail,omitempty"`
	// why it was asked again without what another engine had computed
	Fallback string `json:"fallback,omitempty"`
	// reserved | engine: how it was admitted; absent if its specialist has no speculative window
	Speculation string  `json:"speculation,omitempty"`
	Ms          float64 `json:"ms"`
	// the replica's Gate's arithmetic, as of its first answer of this turn; absent if it was not asked
	Admission Admission `json:"admission,omitzero"`

	opened time.Duration // since the request's arrival
	placed bool          // a place was given
}

// Admission is what a Gate reckoned with. Without a modelled pool its blocks are 0, without measured rates its times.
type Admission struct {
	Answer string `json:"answer"` // admitted | wait | refused
	Needed int    `json:"blocks_needed"`
	Reused int    `json:"blocks_reused"` // of those needed, in the modelled prefix cache
	Free   int    `json:"blocks_free"`   // before it
	// sequences in the engine and requests in its queue, before it
	Running  int `json:"running"`
	Waiting  int `json:"waiting"`
	Uncached int `json:"uncached_tokens"` // to compute before the first one
	// foreseen: until it starts, of its prompt, and of the tokens after the first
	WaitMs    float64 `json:"wait_ms"`
	PrefillMs float64 `json:"prefill_ms"`
	DecodeMs  float64 `json:"decode_ms"`
	// left at the tightest deadline, negative if that would be missed; absent without a deadline
	SlackMs *float64 `json:"slack_ms,omitempty"`
}

// How a turn was admitted before an engine that speculates.
const (
	SpeculationReserved = "reserved" // its whole draft window has its blocks
	// It has blocks for one token a step, or the pool is not modelled. The engine is not told: vLLM and SGLang have no
	// such member of a request, and decide by themselves whether to draft and what to do when their pool is full.
	SpeculationEngines = "engine"
)

// OK is the outcome of an attempt that did not fail.
const OK = "ok"

// Result is how the request ended.
type Result struct {
	Status           int     `json:"status"`
	Specialist       string  `json:"specialist,omitempty"` // that answered; of a failure, the last one asked
	Code             string  `json:"code,omitempty"`       // of the error, "" when complete
	Finish           string  `json:"finish,omitempty"`
	Done             bool    `json:"done"`
	PromptTokens     int     `json:"prompt_tokens,omitempty"`
	CompletionTokens int     `json:"completion_tokens"`
	CachedTokens     *int    `json:"cached_tokens,omitempty"` // delivered, if the engine says so
	TTFTMs           float64 `json:"ttft_ms,omitempty"`
	TotalMs          float64 `json:"total_ms"`
	RouteUs          float64 `json:"route_us"`
	// attempts to continue after an engine's death; each is among the attempts
	Continued int `json:"continued,omitempty"`
	Preempted int `json:"preempted"`
	// that it was held as no replica of the specialist served, and whether one was woken for it
	HeldMs float64 `json:"held_ms,omitempty"`
	Woke   bool    `json:"woke,omitempty"`
}

// Outcome is a verdict on an answer.
type Outcome struct {
	Kind       string    `json:"kind"`
	Specialist string    `json:"specialist,omitempty"` // that was sent a copy; "" is the one that answered
	Pass       bool      `json:"pass"`
	Time       time.Time `json:"time"`

	By        string `json:"-"` // the tenant that gave it; "" is the gateway's own verifier
	Published string `json:"-"` // the kind under whose rate it counts
	OnTrial   bool   `json:"-"` // it counts for its adapter's probation alone
}

// render writes out what is only written when it is asked for: traces and verdicts. Its lists are never null.
func (r *Receipt) render() {
	if r.Attempts == nil {
		r.Attempts = []Attempt{}
	}
	if r.Routing == nil {
		r.Routing = []Routing{}
	}
	for i := range r.Routing {
		r.Routing[i].render()
	}
	if r.verdicts != nil {
		r.Outcomes = r.verdicts.all()
	}
}

// render writes out the trace.
func (p *Routing) render() {
	if p.selected == nil {
		return
	}
	p.Trace = p.selected.Trace()
	for i := range p.Trace.Candidates {
		c := &p.Trace.Candidates[i]
		c.Replica = p.names[c.Host]
	}
}

// ForClient returns a copy of r without what is the operator's: addresses of engines, and their own words.
func (r *Receipt) ForClient() *Receipt {
	c := *r
	c.Attempts = slices.Clone(r.Attempts)
	for i := range c.Attempts {
		a := &c.Attempts[i]
		a.Detail = ""
		if a.Fallback != "" {
			a.Fallback = "what another engine had computed could not be used"
		}
	}
	return &c
}
