package gateway

import (
	"math"
	"slices"
	"time"

	"octet/classifier"
	"octet/gateway/wire"
	"octet/routing"
)

// Receipt is the full record of one decision: why a request went where it went, and what came of it.
type Receipt struct {
	ID        string    `json:"id"`
	RequestID string    `json:"request_id"`
	Time      time.Time `json:"time"`
	Kind      string    `json:"kind"` // see nameOf
	Asked     Asked     `json:"asked"`
	Decision  Decision  `json:"decision"`
	Prompt    Prompt    `json:"prompt"`
	// Routing holds, for every specialist that was tried in turn, each candidate's verdicts and scores. It is written
	// when it is asked for: see tell.
	Routing  []RoutingRecord `json:"routing"`
	Attempts []Attempt       `json:"attempts"`
	Result   Result          `json:"result"`
	Outcomes []Outcome       `json:"outcomes,omitempty"` // as of when the receipt was asked for

	kind     wire.Kind // what Kind is told from
	legs     []byte    // what Routing tells of: legFacts, one behind the other
	refs     []legRefs // of each of them
	cached   int       // what Result.CachedTokens may point to
	verdicts *verdicts // nil where nobody can give any yet
}

// Asked is what the client said.
type Asked struct {
	Model          string `json:"model"`
	Intent         string `json:"intent,omitempty"`
	Adapter        string `json:"adapter,omitempty"`
	Session        bool   `json:"session"`
	Priority       int    `json:"priority"`
	PriorityInUse  int    `json:"priority_in_use"` // after the tenant's ceiling
	DeadlineMs     int64  `json:"deadline_ms,omitempty"`
	TTFTDeadlineMs int64  `json:"ttft_deadline_ms,omitempty"`
	Stream         bool   `json:"stream"`
	Policy         string `json:"policy"` // greedy | typical | temperature
	MaxTokens      int    `json:"max_tokens,omitempty"`

	policy wire.Policy // what Policy is told from
}

// Decision is which specialist was chosen and by what.
type Decision struct {
	Specialist    string             `json:"specialist"`
	Adapter       string             `json:"adapter,omitempty"`
	RoutedBy      string             `json:"routed_by"`
	Rule          string             `json:"rule,omitempty"`
	Cues          []string           `json:"cues,omitempty"`
	Confidence    *float64           `json:"confidence,omitempty"` // absent where no probability exists
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Second        string             `json:"second,omitempty"`
	SecondViable  bool               `json:"second_viable,omitempty"`
	Shadow        string             `json:"shadow,omitempty"`
	Demoted       string             `json:"demoted,omitempty"` // who would have answered; Specialist stands in
	// the demoted specialist that is owed a copy of this request
	Probe string `json:"probe,omitempty"`

	intent        string              // as the cascade took it
	routedBy      classifier.RoutedBy // what RoutedBy is told from
	confidence    float64             // what Confidence is told from; NaN where there is none
	probabilities []float64           // what Probabilities is told from: of among, in their order
	among         []*Specialist
}

// tell makes d what it says in full.
func (d *Decision) tell() {
	d.RoutedBy = d.routedBy.String()
	if !math.IsNaN(d.confidence) && d.Confidence == nil {
		confidence := d.confidence // d may be written over
		d.Confidence = &confidence
	}
	if d.probabilities != nil && d.Probabilities == nil {
		d.Probabilities = make(map[string]float64, len(d.probabilities))
		for i, p := range d.probabilities {
			d.Probabilities[d.among[i].Name] = p
		}
	}
}

// Prompt is what the pipeline found out about the prompt.
type Prompt struct {
	Tokens int  `json:"tokens"`
	Exact  bool `json:"exact"` // counted by the engine's tokenizer, not estimated
	Blocks int  `json:"blocks"`
}

// RoutingRecord is one pass through a specialist's pipeline.
type RoutingRecord struct {
	Specialist string         `json:"specialist"`
	Step       string         `json:"step,omitempty"`    // of the plan; absent where there is only one
	Skipped    string         `json:"skipped,omitempty"` // why the step was left out
	Trace      *routing.Trace `json:"trace,omitempty"`
	Hit        *Hit           `json:"hit,omitempty"` // absent without a pick
	Error      string         `json:"error,omitempty"`
}

// Hit is what the index believed of the prefix cache when a replica was picked.
type Hit struct {
	Replica     string `json:"replica"` // the pick
	Chosen      int    `json:"chosen"`  // tokens of the prompt that it holds
	Best        int    `json:"best"`    // tokens that the eligible replica holds that holds most
	BestReplica string `json:"best_replica"`
	// lost / (novel + lost): the share of what is computed that some eligible replica holds
	Regret float64 `json:"regret"`
}

// Attempt is one replica's turn.
type Attempt struct {
	Specialist      string  `json:"specialist"`
	Step            string  `json:"step,omitempty"` // of the plan; absent where there is only one
	Replica         string  `json:"replica"`
	QueueMs         float64 `json:"queue_ms"`
	PredictedTokens int     `json:"predicted_cached_tokens"`
	DeliveredTokens *int    `json:"delivered_cached_tokens,omitempty"` // of its own cache, where the engine says
	Outcome         string  `json:"outcome"`                           // ok, or the error's code
	Detail          string  `json:"detail,omitempty"`
	// why it was asked again without what another engine had computed
	Fallback string  `json:"fallback,omitempty"`
	Ms       float64 `json:"ms"`

	delivered int // what DeliveredTokens may point to
}

// Result is how it ended.
type Result struct {
	Status           int     `json:"status"`
	Specialist       string  `json:"specialist,omitempty"` // who answered; of a failure, who was asked last
	Code             string  `json:"code,omitempty"`       // of the error, "" when complete
	Finish           string  `json:"finish,omitempty"`
	Done             bool    `json:"done"`
	PromptTokens     int     `json:"prompt_tokens,omitempty"`
	CompletionTokens int     `json:"completion_tokens"`
	CachedTokens     *int    `json:"cached_tokens,omitempty"` // delivered, where the engine says
	TTFTMs           float64 `json:"ttft_ms,omitempty"`
	TotalMs          float64 `json:"total_ms"`
	RouteUs          float64 `json:"route_us"`
	// attempts to go on after an engine's death; each is among the attempts
	Continued int `json:"continued,omitempty"`
	Preempted int `json:"preempted"`
}

// Outcome is a verdict on an answer.
type Outcome struct {
	Kind       string    `json:"kind"`
	Specialist string    `json:"specialist,omitempty"` // that was sent a copy; "" is who answered
	Pass       bool      `json:"pass"`
	Time       time.Time `json:"time"`

	by string // the tenant that gave it; "" is the gateway's own judge
}

// tell makes r what it says in full, and its own.
func (r *Receipt) tell() {
	r.Kind, r.Asked.Policy = nameOf(r.kind), r.Asked.policy.String()
	r.Decision.tell()
	if r.Routing == nil {
		r.Routing = make([]RoutingRecord, 0, len(r.refs)) // none is an empty list, not null
	}
	facts := pen{r.legs}
	for i := range r.refs {
		if record := facts.leg(&r.refs[i]); i >= len(r.Routing) {
			r.Routing = append(r.Routing, record)
		}
	}
}

// copied returns a copy that outlives r.
func (r *Receipt) copied() *Receipt {
	c := readReceipt(r.appendTo(nil), slices.Clone(r.refs))
	c.verdicts = r.verdicts
	c.tell()
	return c
}
