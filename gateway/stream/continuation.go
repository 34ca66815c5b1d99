package stream

import (
	"slices"
	"strconv"

	"octet/engine"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// Continuation is what a stream keeps so that another engine can continue its answer: the reasoning and the text that
// the client has. A nil Continuation belongs to an answer that cannot be continued, which is pinned from its first byte
// on.
type Continuation struct {
	reasoning
	text   []byte // so far, as the inside of a JSON string
	bound  bool   // the text keeps to a grammar, which an engine would begin anew: text is not continued
	most   int    // bytes of text and reasoning that are kept
	ids    tokenIDs
	pieces int    // events of the present engine that brought text or reasoning; below 0 they are not kept any more
	base   int    // tokens that engines before the present one have brought
	spent  int    // the most that those can be of which engines told only events; 0 if all told
	prompt int    // the prompt's tokens as the first engine counted them; 0 is unknown
	later  bool   // the present engine is not the first that the client has an answer of
	id     []byte // raw, as the first engine's chunks have them
	born   []byte
	event  []byte // scratch of joined
}

// stateful are members with which an answer depends on more than its text: it cannot be continued. A member with its
// idle value, or null, asks for nothing.
var stateful = []struct{ name, idle string }{
	{"continue_final_message", "false"}, {"add_generation_prompt", "true"}, {name: "continue_from"},
	{"min_tokens", "0"}, {"frequency_penalty", "0"}, {"presence_penalty", "0"}, {"repetition_penalty", "1"},
	{name: "thinking_token_budget"},
	// reasoning may be where the client does not see it
	{"include_reasoning", "true"}, {"separate_reasoning", "true"}, {"stream_reasoning", "true"},
}

// Continuable reports whether an engine of kind e could continue some answer to r from what the client has of it: its
// reasoning and its text. From an answer's first call of a tool on it cannot.
func Continuable(r *wire.Request, kind wire.Kind, e *engine.Kind) bool {
	if depends(r) || !r.Continuable() {
		return false
	}
	if kind == wire.Completion {
		prompt := r.Raw("prompt")
		return e.Streams.Completions && !r.Structured && len(prompt) > 0 && prompt[0] == '"'
	}
	return e.Streams.Chats && (e.Streams.Reasoning || !bound(r))
}

// depends reports whether an answer to r depends on more than its text. By a seed an engine that continues an answer
// would draw from its beginning again, which is of no account where nothing is drawn.
func depends(r *wire.Request) bool {
	if asks(r, "seed", "") && r.Policy() != wire.PolicyGreedy {
		return true
	}
	for i := range stateful {
		if asks(r, stateful[i].name, stateful[i].idle) {
			return true
		}
	}
	return false
}

// asks reports whether r has a member that is neither null nor idle.
func asks(r *wire.Request, name, idle string) bool {
	raw := r.Raw(name)
	if raw == nil || raw[0] == 'n' || string(raw) == idle {
		return false
	}
	is, err := strconv.ParseFloat(string(raw), 64) // 0.0 is 0
	none, failed := strconv.ParseFloat(idle, 64)
	return err != nil || failed != nil || is != none
}

// bound reports whether the text of an answer to r keeps to a grammar. An engine's grammar begins with the first token
// that it generates itself, behind reasoning: it would say all of a text again.
func bound(r *wire.Request) bool { return r.Structured || r.MustCall }

// Begin makes o keep what a continuation of the present engine's answer to r needs, up to most bytes. reasons says that
// the engine would show reasoning to its model. What was kept of an answer that the client has seen nothing of is
// dropped.
func (c *Continuation) Begin(o *sse.Options, r *wire.Request, reasons bool, most int) {
	if c.pieces = 0; c.base == 0 {
		c.text, c.thought, c.thoughts = c.text[:0], c.thought[:0], 0
		c.ids = tokenIDs{}
	}
	c.ids.ahead, c.ids.late = nil, 0
	c.bound, c.most, c.shown = bound(r), most, reasons
	o.Text, o.Reasoning = c.keep, c.think
}

// keep adds what an engine said. Of an answer that is not to be continued, or is too long for it, nothing is kept.
func (c *Continuation) keep(raw []byte) {
	switch {
	case c.pieces < 0:
	case c.bound, len(c.thought)+len(c.text)+len(raw) > c.most:
		c.drop()
	default:
		c.text = append(c.text, raw...)
		c.pieces++
	}
}

// drop lets go of the text and the reasoning.
func (c *Continuation) drop() {
	c.pieces, c.text, c.thought, c.ids = -1, nil, nil, tokenIDs{}
}

// Cached returns how many tokens of the prompt an engine says it had cached; below 0 if that says nothing of its own
// cache: of an answer that it continues, or a prompt that was handed over to it.
func (c *Continuation) Cached(u sse.Usage, handed bool) int {
	if u.CachedKnown && c.Base() == 0 && !handed {
		return u.CachedTokens
	}
	return -1
}

// Base returns how many tokens came from engines before the present one.
func (c *Continuation) Base() int {
	if c == nil {
		return 0
	}
	return c.base
}

// Later reports whether the present engine continues an answer that another began.
func (c *Continuation) Later() bool { return c != nil && c.later }

// Holds reports whether the text is kept of all of so many events of the present engine.
func (c *Continuation) Holds(events int) bool { return c != nil && c.pieces == events }

// Usable reports whether the answer could be continued, as far as its text is concerned.
func (c *Continuation) Usable() bool { return c != nil && c.pieces >= 0 }

// Text returns what is kept of the answer, as the inside of a JSON string; nil if nothing is kept.
func (c *Continuation) Text() []byte { return c.text }

// Orphan gives up continuing the answer once more. It returns what the rest of a stream that was continued before
// needs; nil if it was not.
func (c *Continuation) Orphan() *Continuation {
	if c == nil {
		return nil
	}
	c.drop()
	if !c.later {
		return nil
	}
	return c
}

// Events returns what the client gets for whole events: as they came from its first engine, and like those from later
// ones. Valid until the next call.
func (c *Continuation) Events(events []byte) []byte {
	switch {
	case c == nil:
		return events
	case c.later:
		return c.joined(events)
	case c.id == nil:
		c.remember(events)
	}
	return events
}

// unseenTokens is how many tokens of an answer have no text at most: marks of the template.
const unseenTokens = 8

// mostTokens returns the most tokens that text and reasoning so far can be: each has a byte.
func (c *Continuation) mostTokens() int {
	if c == nil {
		return 0
	}
	return len(c.text) + len(c.thought) + unseenTokens
}

// HandOver says that another engine is to continue behind the delivered tokens that the client has. prompt is the
// prompt's tokens, as far as they are known; 0 is unknown.
func (c *Continuation) HandOver(delivered, prompt int) {
	if c.base == 0 && prompt > 0 {
		c.prompt = prompt
	}
	c.base, c.pieces, c.later, c.read, c.proved = delivered, 0, true, false, false
	c.handed = c.thoughts
}

// Edits appends what makes an engine continue after what the client has.
func (c *Continuation) Edits(edits []wire.Edit, r *wire.Request, kind wire.Kind) []wire.Edit {
	if c.Base() == 0 {
		return edits
	}
	edits = append(edits, wire.Edit{Key: "continue_from", Raw: strconv.AppendInt(nil, int64(c.base), 10)})
	if r.MaxTokens > 0 {
		left := strconv.AppendInt(nil, int64(r.MaxTokens-max(c.base, c.spent)), 10)
		for _, limit := range [...]string{"max_tokens", "max_completion_tokens"} {
			if r.Raw(limit) != nil {
				edits = append(edits, wire.Edit{Key: limit, Raw: left})
			}
		}
	}
	if kind == wire.Completion {
		return append(edits, wire.Edit{Key: "prompt", Raw: c.promptSoFar(r.Raw("prompt"))})
	}
	messages := r.Raw("messages")
	return append(edits,
		wire.Edit{Key: "messages",
			Raw: slices.Concat(messages[:len(messages)-1], []byte(`,{"role":"assistant","content":"`), c.text,
				[]byte{'"'}, c.reasoning.members(), []byte(`}]`))},
		wire.Edit{Key: "continue_final_message", Raw: []byte("true")},
		wire.Edit{Key: "add_generation_prompt", Raw: []byte("false")})
}

// promptSoFar is a completion's prompt with the answer so far: by its token ids where they are known, else by its text,
// of which the next engine makes ids of its own.
func (c *Continuation) promptSoFar(prompt []byte) []byte {
	if ids := c.idsSoFar(); ids != nil {
		return ids
	}
	c.ids = tokenIDs{from: c.base}
	return slices.Concat(prompt[:len(prompt)-1], c.text, []byte{'"'})
}

// first returns what the engines before the present one said of the prompt.
func (c *Continuation) first() (u sse.Usage) {
	if c.Base() > 0 {
		u.PromptTokens, u.CompletionTokens = c.prompt, c.base
	}
	return u
}

// Usage returns the usage of the whole answer, of which u is the present engine's part.
func (c *Continuation) Usage(u sse.Usage) sse.Usage {
	if n := c.Base(); n > 0 {
		u.PromptTokens = c.promptOf(u.PromptTokens)
		u.CompletionTokens += n
		u.CachedTokens = min(u.CachedTokens, u.PromptTokens)
	}
	return u
}
