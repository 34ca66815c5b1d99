package replay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// Drawn describes a trace of software agents at work that a seed draws, turn by turn. A turn's prompt is all that was
// said before in its context, and comes when a tool has run.
//
//	coder  one context: the instructions and tools that all sessions share, a task, and after each turn its answer and
//	       what the tool said. A context that is full is replaced by a summary behind the shared part.
//	team   four roles with instructions of their own, which all sessions share. A turn is one role's: it goes on with
//	       its context, or begins a new one with a task of its own.
type Drawn struct {
	Kind     string // coder or team
	Seed     uint64
	Sessions int
}

// drawnBlock is the tokens of a drawn trace's blocks.
const drawnBlock = 16

// DrawnKinds are the kinds of a Drawn.
var DrawnKinds = []string{"coder", "team"}

// Trace draws the trace. The error is an ErrConfig.
func (d Drawn) Trace() (Trace, error) {
	if d.Sessions < 1 || d.Sessions > 1e6 {
		return Trace{}, fmt.Errorf("%w: %d sessions, want 1 to 1000000", ErrConfig, d.Sessions)
	}
	play := (*agents).coder
	switch d.Kind {
	case "coder":
	case "team":
		play = (*agents).team
	default:
		return Trace{}, fmt.Errorf("%w: agents of kind %q, want one of %q", ErrConfig, d.Kind, DrawnKinds)
	}
	a := &agents{dice: rand.New(rand.NewPCG(d.Seed, 0xa6e7)), next: 1 << 32}
	a.trace.Block = drawnBlock
	start := 0.0 // seconds
	for s := range d.Sessions {
		a.session, a.before, a.at = strconv.Itoa(s), 0, time.Duration(start*1e9)
		play(a)
		start += a.dice.ExpFloat64() / DefaultSessionRate
	}
	a.trace.order()
	return a.trace, nil
}

// agents draws sessions one after the other.
type agents struct {
	dice    *rand.Rand
	next    uint64 // block
	trace   Trace
	session string
	before  int // place, plus 1, of the session's last turn; 0 before the first
	at      time.Duration
	gap     time.Duration
}

// agentContext is a prompt that grows.
type agentContext struct {
	spans  []Span
	tokens int
}

// begin returns a context of tokens that all sessions share, named from first on.
func (a *agents) begin(first uint64, tokens int) agentContext {
	return agentContext{[]Span{{first, tokens / drawnBlock}}, tokens}
}

// grow appends tokens of the session's own. A block that was not full is another one once it is.
func (a *agents) grow(c *agentContext, tokens int) {
	count := (c.tokens+tokens)/drawnBlock - c.tokens/drawnBlock
	c.tokens += tokens
	if count == 0 {
		return
	}
	if last := &c.spans[len(c.spans)-1]; last.First+uint64(last.Count) == a.next {
		last.Count += count
	} else {
		c.spans = append(c.spans, Span{a.next, count})
	}
	a.next += uint64(count)
}

// turn asks with the context, and returns the tokens of the answer.
func (a *agents) turn(c *agentContext, tool float64) (answer int) {
	answer = a.around(110, 0.8, 8, 2000)
	r := Request{At: a.at, Input: c.tokens, Output: answer, Session: a.session, After: a.before, Gap: a.gap}
	if a.before == 0 {
		r.Gap = 0
	}
	r.Blocks = append(r.Blocks, c.spans...)
	a.trace.Requests = append(a.trace.Requests, r)
	a.before = len(a.trace.Requests)
	a.gap = time.Duration(a.around(tool, 0.8, 200, 60_000)) * time.Millisecond
	a.at += 300*time.Millisecond + time.Duration(answer)*12*time.Millisecond + a.gap // where it is alone
	return answer
}

// coder plays a session of an agent that works on its own.
func (a *agents) coder() {
	const shared = 1408
	c := a.begin(0, shared)
	a.grow(&c, a.around(400, 0.8, 50, 6000))
	limit := []int{10_000, 20_000}[a.dice.IntN(2)]
	for range a.around(18, 0.5, 4, 80) {
		a.grow(&c, a.turn(&c, 2000)+a.around(160, 1, 10, 8000))
		if c.tokens > limit {
			c = a.begin(0, shared)
			a.grow(&c, a.around(1400, 0.3, 600, 4000))
		}
	}
}

// team plays a session of agents that take turns.
func (a *agents) team() {
	var roles [4]agentContext
	for range a.around(20, 0.4, 6, 80) {
		k := a.dice.IntN(len(roles))
		if roles[k].tokens == 0 || a.dice.Float64() < 0.2 {
			roles[k] = a.begin(uint64(k+1)<<20, 480+400*k)
			a.grow(&roles[k], a.around(300, 0.8, 30, 4000))
		}
		a.grow(&roles[k], a.turn(&roles[k], 2300)+a.around(160, 0.9, 10, 6000))
	}
}

// around draws about median: the logarithm is normal, with that deviation.
func (a *agents) around(median, deviation float64, low, high int) int {
	return min(high, max(low, int(math.Exp(math.Log(median)+deviation*a.dice.NormFloat64()))))
}
