package gateway

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// mostPreemptions is how often one request gives way; then it keeps its place to the end.
const mostPreemptions = 4

// continuation is what a stream keeps so that its answer can go on elsewhere in time: the text that the client has. A
// stream that no engine could take up from its text has none, and is pinned from its first byte on.
type continuation struct {
	said   []byte // the text so far, as the inside of a JSON string
	ids    tokenIDs
	pieces int    // events of the present engine that brought text
	base   int    // tokens that engines before the present one have brought
	prompt int    // the prompt's tokens as the first engine counted them; 0 is unknown
	later  bool   // the present engine is not the first that the client has heard
	id     []byte // raw, as the first engine's chunks have them
	born   []byte
	event  []byte // scratch of joined
}

// stateful are members with which an answer depends on more than its text: who has one is never taken up again.
var stateful = []string{
	"continue_final_message", "add_generation_prompt", "continue_from", "min_tokens", "seed",
	"frequency_penalty", "presence_penalty", "repetition_penalty",
}

// continuable says whether this replica's engine could go on with the answer from its text alone.
func (x *exchange) continuable(rep *ensemble.Replica) bool {
	if !x.stream || rep.ContradictedKind() != "" || !x.req.Continuable() ||
		slices.ContainsFunc(stateful, func(name string) bool { return x.req.Raw(name) != nil }) {
		return false
	}
	if x.kind == wire.Completion {
		prompt := x.req.Raw("prompt")
		return rep.Kind.Streams.Completions && len(prompt) > 0 && prompt[0] == '"'
	}
	return rep.Kind.Streams.Chats
}

// continuing makes the scanner keep what a continuation needs.
func (x *exchange) continuing() sse.Options {
	c, o := x.cont, sse.Options{MaxEvent: x.rt.Limits.EventBytes}
	if c == nil {
		return o
	}
	if c.pieces = 0; c.base == 0 {
		c.said = c.said[:0] // nobody has seen what came before
		c.ids = tokenIDs{}
	}
	c.ids.ahead, c.ids.late = nil, 0
	most := int(x.rt.Limits.BodyBytes) // of a body that a client could not have sent either
	o.Text = func(raw []byte) { c.keep(raw, most) }
	return o
}

// keep adds what an engine said. Of an answer that is not to go on, or would be too long for it, nothing is kept.
func (c *continuation) keep(raw []byte, most int) {
	switch {
	case c.pieces < 0:
	case len(c.said)+len(raw) > most:
		c.pieces, c.said, c.ids = -1, nil, tokenIDs{}
	default:
		c.said = append(c.said, raw...)
		c.pieces++
	}
}

// base returns how many tokens came from engines before the present one.
func (x *exchange) base() int {
	if x.cont == nil {
		return 0
	}
	return x.cont.base
}

// secure pins a stream that cannot be taken up, at the latest when its first byte is about to go out. False when it has
// been told to give way before and nobody has seen anything of it: then it begins again.
func (x *exchange) secure() bool {
	if x.cont != nil && x.cont.pieces == x.scanner.Events() && x.countKnown() {
		return true
	}
	x.cont = x.cont.orphaned()
	return x.turn.place.Pin() || x.started
}

// orphaned keeps of c what the rest of a stream that was taken up before needs; nil where it was not.
func (c *continuation) orphaned() *continuation {
	if c == nil {
		return nil
	}
	c.pieces, c.said, c.ids = -1, nil, tokenIDs{}
	if !c.later {
		return nil
	}
	return c
}

// rejoined is what the client gets of whole events: as they came from its first engine, and like those from later ones.
func (x *exchange) rejoined(events []byte) []byte {
	if x.cont.later {
		return x.cont.joined(events)
	}
	if x.cont.id == nil {
		x.cont.remember(events)
	}
	return events
}

// unfinished says whether an answer that has begun could go on with another token from its text.
func (x *exchange) unfinished() bool {
	return x.cont != nil && x.cont.pieces >= 0 && x.started && !x.scanner.Done() && x.scanner.FinishReason() == "" &&
		x.handedOut != x.maxTokens
}

// told says whether the place is wanted by somebody more urgent and this is a moment to give it up: with a whole number
// of tokens out, and more to come. A stream is asked with each piece, so that waiting for the answer costs no
// goroutine.
func (x *exchange) told() bool {
	return x.unfinished() && x.turn.place.Yielding()
}

// resume gives the place up and asks for it again, as often as it takes, until the answer goes on. The client's stream
// stays open and does not notice more than a pause: each at most of limits.max_queue_wait, or, where nobody may queue,
// of limits.ttft_timeout. After that it is refused as others in the queue are.
func (x *exchange) resume(ctx context.Context) (err error) {
	if err = x.reread(); err != nil {
		return err
	}
	for {
		x.turn.leave()
		x.preempted++
		x.handOver()
		x.turn.place.Watch(ctx)
		if err = x.enterInTime(ctx); err != nil {
			return err
		}
		if err = x.call(); !errors.Is(err, place.ErrPreempted) {
			return err
		}
	}
}

// handOver says that another engine is to go on behind the tokens that the client has.
func (x *exchange) handOver() {
	c := x.cont
	if u, told := x.usageTold(); c.base == 0 && told {
		c.prompt = u.PromptTokens
	} else if c.base == 0 && x.prompt.Exact {
		c.prompt = x.prompt.Tokens
	}
	c.base, c.pieces, c.later = x.handedOut, 0, true
}

// continued are the edits that make an engine go on after what the client has.
func (x *exchange) continued(edits []wire.Edit) []wire.Edit {
	c := x.cont
	if c == nil || c.base == 0 {
		return edits
	}
	edits = append(edits, wire.Edit{Key: "continue_from", Raw: strconv.AppendInt(nil, int64(c.base), 10)})
	if x.req.MaxTokens > 0 {
		left := strconv.AppendInt(nil, int64(x.req.MaxTokens-c.base), 10)
		for _, limit := range [...]string{"max_tokens", "max_completion_tokens"} {
			if x.req.Raw(limit) != nil {
				edits = append(edits, wire.Edit{Key: limit, Raw: left})
			}
		}
	}
	if x.kind == wire.Completion {
		if ids := c.idsSoFar(); ids != nil {
			return append(edits, wire.Edit{Key: "prompt", Raw: ids})
		}
		c.ids = tokenIDs{from: c.base} // the engine makes its own of the text
		prompt := x.req.Raw("prompt")
		return append(edits, wire.Edit{Key: "prompt", Raw: slices.Concat(prompt[:len(prompt)-1], c.said, []byte{'"'})})
	}
	messages := x.req.Raw("messages")
	return append(edits,
		wire.Edit{Key: "messages",
			Raw: slices.Concat(messages[:len(messages)-1], []byte(`,{"role":"assistant","content":"`), c.said,
				[]byte(`"}]`))},
		wire.Edit{Key: "continue_final_message", Raw: []byte("true")},
		wire.Edit{Key: "add_generation_prompt", Raw: []byte("false")})
}
