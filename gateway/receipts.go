package gateway

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"octet/routing"
)

// Receipt is the full record of one decision: why a request went where it went, and what came of it.
type Receipt struct {
	ID        string    `json:"id"`
	RequestID string    `json:"request_id"`
	Time      time.Time `json:"time"`
	Kind      string    `json:"kind"` // chat | completion
	Asked     Asked     `json:"asked"`
	Decision  Decision  `json:"decision"`
	Prompt    Prompt    `json:"prompt"`
	// Routing holds, for every specialist that was tried in turn, each candidate's verdicts and scores. It is written when it is
	// asked for: see routing.
	Routing  []RoutingRecord `json:"routing"`
	Attempts []Attempt       `json:"attempts"`
	Result   Result          `json:"result"`
	Outcomes []Outcome       `json:"outcomes,omitempty"`

	tenant   string
	accounts []routing.Account // what Routing tells of, one for each of legs
	legs     []legFacts
	cached   int        // what Result.CachedTokens may point to
	shared   bool       // somebody else holds it when it is put: its memory is not used again
	mu       sync.Mutex // guards everything from Decision on
}

// spares are receipts that nobody holds any more.
var spares = sync.Pool{New: func() any { return new(Receipt) }}

// blank returns a Receipt of nothing, in the memory of an earlier one where there is one.
func blank() *Receipt { return spares.Get().(*Receipt).wiped() }

// blank is blank in the memory that the exchange before was left with, where there is any.
func (m *memory) blank() *Receipt {
	r := m.spare
	if r == nil {
		return blank()
	}
	m.spare = nil
	return r.wiped()
}

func (r *Receipt) wiped() *Receipt {
	r.Routing, r.Outcomes = nil, nil
	r.Attempts, r.accounts, r.legs = r.Attempts[:0], r.accounts[:0], r.legs[:0]
	r.Result = Result{}
	return r
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
	Probe         string             `json:"probe,omitempty"`   // the demoted specialist that is owed a copy of this request

	intent string // as the cascade took it
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
	Replica     string  `json:"replica"` // the pick
	Chosen      int     `json:"chosen"`  // tokens of the prompt that it holds
	Best        int     `json:"best"`    // tokens that the eligible replica holds that holds most
	BestReplica string  `json:"best_replica"`
	Regret      float64 `json:"regret"` // lost / (novel + lost): the share of what is computed that some eligible replica holds
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
	Fallback        string  `json:"fallback,omitempty"` // why it was asked again without what another engine had computed
	Ms              float64 `json:"ms"`

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
	Continued        int     `json:"continued,omitempty"` // attempts to go on after an engine's death; each is among the attempts
	Preempted        int     `json:"preempted"`
}

// Outcome is a verdict on an answer.
type Outcome struct {
	Kind       string    `json:"kind"`
	Specialist string    `json:"specialist,omitempty"` // that was sent a copy; "" is who answered
	Pass       bool      `json:"pass"`
	Time       time.Time `json:"time"`
}

// MarshalJSON renders a consistent copy.
func (r *Receipt) MarshalJSON() ([]byte, error) {
	type plain Receipt // without the method
	r.mu.Lock()
	defer r.mu.Unlock()
	r.routing()
	return json.Marshal((*plain)(r))
}

// receipts keeps the newest receipts of every tenant.
type receipts struct {
	mu    sync.Mutex
	keep  int              // a tenant
	rings map[string]*ring // by tenant
}

// ring holds one tenant's receipts; the oldest makes room.
type ring struct {
	all []*Receipt // grows to keep, then wraps
	// keys are what is known of all without looking at them: eight lie in a line of a cache, so that who asks may look at each, and who
	// puts need not wait for a receipt that he has not seen for long.
	keys []uint64
	next int
}

// held is the bit of a key that says that somebody else may hold the receipt.
const held = 1

// keyOf is what an id is found by, and nothing is held by.
func keyOf(id string) uint64 { return xxh3.HashString(id) &^ held }

func newReceipts(keep int) *receipts { return &receipts{keep: max(keep, 1), rings: map[string]*ring{}} }

// put stores r under its tenant, and returns the one that made room for it where nobody can hold it any more, else nil.
func (rs *receipts) put(r *Receipt) (spare *Receipt) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	g := rs.rings[r.tenant]
	if g == nil {
		g = &ring{}
		rs.rings[r.tenant] = g
	}
	key := keyOf(r.ID)
	if r.shared {
		key |= held
	}
	if len(g.all) < rs.keep {
		g.all, g.keys = append(g.all, r), append(g.keys, key)
		return nil
	}
	old, free := g.all[g.next], g.keys[g.next]&held == 0
	g.all[g.next], g.keys[g.next] = r, key
	if g.next++; g.next == rs.keep {
		g.next = 0
	}
	if !free {
		return nil
	}
	return old
}

// find returns the tenant's receipt of that id, nil when there is none (any more): another tenant's is none.
func (rs *receipts) find(tenant, id string) *Receipt {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	g := rs.rings[tenant]
	if g == nil {
		return nil
	}
	key := keyOf(id)
	for i, k := range g.keys {
		if r := g.all[i]; k&^held == key && r.ID == id {
			g.keys[i] |= held
			return r
		}
	}
	return nil
}
