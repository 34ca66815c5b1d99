package routing

import (
	"sync"
	"time"

	"octet/routing/index"
)

// Facts is what is known of a request before anything is computed. It is read-only from Acquire on.
type Facts struct {
	RequestID  string
	Specialist string
	Adapter    string // "" is the base model
	Tenant     string
	Salt       string // keeps the prefix caches of tenants apart; "" is shared
	Session    string // stickiness key; may be empty
	Images     int    // in the prompt: its tokens are the engine's to make
	Intent     string // as declared; "" if none was
	Kind       string // "chat" or "completion"
	Body       []byte // as received
	// Member returns the value of a top-level member of Body as it stands there, nil if Body has no such member. A nil
	// Member: Body is to be parsed.
	Member func(name string) []byte
	// Text appends the rendered prompt to dst. Nil for a request without one.
	Text func(dst []byte) []byte
	// Pieces returns the prompt in a wording that prompts share if and only if they mean the same, in pieces, which
	// live as long as the request. Nil for a request without one.
	Pieces func() [][]byte
	// Prompts are a completion's. Of several, Text and Pieces are the first. Nil for a chat, and where Body is to be
	// parsed.
	Prompts   Prompts
	Priority  int // larger is more urgent
	MaxTokens int // tokens to generate at most; 0 is unknown
	Stream    bool
	Now       time.Time // of the decision; plugins have no other clock
	// TTFT and Total are what the caller wants to wait at most from Now on, for the first token and for the whole
	// answer; 0 is no wish, negative is too late already.
	TTFT, Total time.Duration
	// Replica is the name of the one replica that the caller wants; "" leaves the choice to the profile.
	Replica string
	// Headers are those of the request's headers that the configuration lets plugins see, by their canonical names; nil
	// if it names none. A header that the client did not send is not among them.
	Headers Headers
	// Dry asks for a decision that will not be carried out: plugins with a state (a rotation, a random source) leave it
	// alone.
	Dry bool
	// Count asks for the prompt's tokens as such: they are worth their price where routing has no use for them.
	Count bool
}

// Headers are a few headers of a request.
type Headers []Header

// Header is one of them.
type Header struct{ Name, Value string }

// Value returns the value of the header of a canonical name; "" if there is none.
func (h Headers) Value(name string) string {
	for i := range h {
		if h[i].Name == name {
			return h[i].Value
		}
	}
	return ""
}

// Prompts are the prompts of one completion.
type Prompts interface {
	// Prompts is how many there are.
	Prompts() int
	// PromptTokens appends the token ids of prompt i to dst; false where it is text.
	PromptTokens(i int, dst []uint32) ([]uint32, bool)
	// PromptPieces returns prompt i, if it is text, as Facts.Pieces have it, until the next call.
	PromptPieces(i int) [][]byte
}

// Context carries one request through its Selectors: facts, candidates and slots. One goroutine at a time uses it.
type Context struct {
	facts      Facts
	candidates index.HostBitmap
	answering  index.HostBitmap // the candidates that may answer; empty means all
	generation uint64           // grows with each Acquire, so that cells of earlier requests read as empty
	cells      []any            // [slot id]*cell[T]; a cell stays for the life of the pooled Context
	prepared   slotSet          // slots whose Preparer has run, whether it wrote them or not
	role       Role             // what the running Selector looks for
	running    *unit            // the plugin that runs now; outside, out of a Select
	released   bool

	ranked  []Scored  // all decisions' candidates, one after the other
	steps   []Step    // all plans' steps, likewise
	records []*record // one per Select; kept beyond len for their buffers

	selections []selection // of the workflows that ran, in the order of their stages
	hoisted    []lap       // of what a workflow prepared before its stages; only when traced
	cycles     []Cycle     // of the workflow that a Handler chose
	way        int         // of them, that of the plan
	forks      []*Context  // of selections that ran side by side; kept beyond len for their buffers

	traced bool
	now    func() time.Duration // nil when not timed
	last   time.Duration        // when the running stage began; only with now
}

// contexts are used again: a Context is one goroutine's, selections that run side by side have ended when Plan returns,
// and what was obtained from it is void from Release on, which poison shows.
var contexts = sync.Pool{New: func() any { return &Context{running: outside} }}

// Acquire returns an empty Context for one request and one specialist. A second choice of specialist gets another.
func Acquire(f Facts) *Context {
	c, facts := AcquireEmpty()
	*facts = f
	return c
}

// AcquireEmpty is Acquire for a caller that writes the facts in place: all are zero, and must not change once the
// Context is used.
func AcquireEmpty() (*Context, *Facts) {
	c := contexts.Get().(*Context)
	c.generation++
	c.released = false
	return c, &c.facts
}

// Release gives the Context back. Nothing obtained from it may be used from then on: slot values, Decisions, Plans.
// Releasing twice is a bug and panics.
func (c *Context) Release() {
	if c.released {
		panic("routing: a Context was released twice")
	}
	c.released = true
	c.facts = Facts{}
	c.candidates, c.answering = index.HostBitmap{}, index.HostBitmap{}
	c.prepared = slotSet{}
	c.role, c.running = RoleBoth, outside
	c.ranked, c.steps, c.records = c.ranked[:0], c.steps[:0], c.records[:0]
	clear(c.cycles)
	c.cycles, c.way = c.cycles[:0], 0
	c.traced, c.now = false, nil
	c.unfork()
	c.poison()
	contexts.Put(c)
}

// Candidates sets the replicas that this request may see.
func (c *Context) Candidates(hosts index.HostBitmap) { c.candidates = hosts }

// Answering sets the candidates that may answer; empty means all of them. Steps before the answer see all candidates.
func (c *Context) Answering(hosts index.HostBitmap) { c.answering = hosts }

// View returns the reading side.
func (c *Context) View() View { return View{c} }

// View reads a Context and cannot write it: what Filters, Scorers and Pickers get.
type View struct{ c *Context }

// Facts returns the request's facts, read-only.
func (v View) Facts() *Facts { return &v.c.facts }

// Candidates returns the replicas that the request may see, before any Filter.
func (v View) Candidates() index.HostBitmap { return v.c.candidates }

// Role returns what the running Selector looks for.
func (v View) Role() Role { return v.c.role }
