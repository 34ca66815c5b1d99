package messages

import (
	"fmt"
	"strconv"

	"octet/gateway/doors"
)

// Answer translates the answer to one request. The zero Answer is ready.
type Answer struct {
	out     []byte
	chunk   doors.Chunk
	returns bool // the request's last turn holds what tools returned

	begun bool
	id    []byte // of the message, for calls without one
	open  kind   // the block that is open
	index int    // its place, or the next one's
	call  int    // the call that is open, by the engine's number; the last one if none is
	calls int    // begun so far

	finish, stop []byte // as the engine said
	usage        doors.Usage
}

// kind is what a block of an answer holds.
type kind uint8

const (
	none kind = iota
	text
	thought
	use
)

// opening and delta are what the events of each kind of block hold but for their strings.
var (
	opening = [...]string{
		text:    `{"type":"text","text":""}}`,
		thought: `{"type":"thinking","thinking":"","signature":""}}`,
	}
	delta = [...]string{
		text:    `{"type":"text_delta","text":"`,
		thought: `{"type":"thinking_delta","thinking":"`,
		use:     `{"type":"input_json_delta","partial_json":"`,
	}
)

// AnswersTool returns true if the last turn of the request holds what tools returned, whatever stands behind it there.
func (a *Answer) AnswersTool() bool { return a.returns }

// Events implements doors.Answer.
func (a *Answer) Events(events []byte) ([]byte, error) {
	a.out = a.out[:0]
	err := doors.EachChunk(events, a.event)
	return a.out, err
}

func (a *Answer) event(data []byte) error {
	k := &a.chunk
	if err := k.Read(data); err != nil {
		return err
	}
	if !a.begun {
		a.begin(k)
	}
	if k.Usage.Known {
		a.usage = k.Usage
	}
	a.piece(thought, k.Reasoning)
	a.piece(text, k.Text)
	a.piece(text, k.Refusal)
	for i := range k.Calls {
		if err := a.use(&k.Calls[i]); err != nil {
			return err
		}
	}
	if k.Finish != nil {
		a.finish, a.stop = append(a.finish[:0], k.Finish...), append(a.stop[:0], k.StopString...)
	}
	return nil
}

// begin sends message_start.
func (a *Answer) begin(k *doors.Chunk) {
	a.begun, a.id = true, append(a.id, k.ID...)
	a.out = append(a.out, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_"...)
	a.out = append(append(a.out, k.ID...), `","type":"message","role":"assistant","model":"`...)
	a.out = append(append(a.out, k.Model...), `","content":[],"stop_reason":null,"stop_sequence":null,"usage":`...)
	a.out = append(appendUsage(a.out, k.Usage), "}}\n\n"...)
}

// piece sends a piece of text or of reasoning, in a block of its own kind.
func (a *Answer) piece(k kind, raw []byte) {
	if len(raw) == 0 {
		return
	}
	if a.open != k {
		a.opens(k)
		a.out = append(append(a.out, opening[k]...), "\n\n"...)
	}
	a.delta(k, raw)
}

func (a *Answer) delta(k kind, raw []byte) {
	a.out = append(a.out, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	a.out = append(strconv.AppendInt(a.out, int64(a.index), 10), `,"delta":`...)
	a.out = append(append(append(a.out, delta[k]...), raw...), "\"}}\n\n"...)
}

// opens closes the block that is open and begins the next, up to what it is.
func (a *Answer) opens(k kind) {
	a.closes()
	a.open = k
	a.out = append(a.out, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"...)
	a.out = append(strconv.AppendInt(a.out, int64(a.index), 10), `,"content_block":`...)
}

func (a *Answer) closes() {
	if a.open == none {
		return
	}
	a.out = append(a.out, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	a.out = append(strconv.AppendInt(a.out, int64(a.index), 10), "}\n\n"...)
	a.open = none
	a.index++
}

// use sends a piece of a call. A call that another block has followed cannot go on.
func (a *Answer) use(c *doors.Call) error {
	if a.open != use || c.Index != a.call {
		if a.calls > 0 && c.Index <= a.call || len(c.Name) == 0 {
			return fmt.Errorf("%w: a piece of call %d comes out of turn", doors.ErrChunk, c.Index)
		}
		a.opens(use)
		a.out = append(a.out, `{"type":"tool_use","id":`...)
		a.out = append(appendCallID(a.out, c.ID, a.id, a.calls), `,"name":`...)
		a.out = append(doors.AppendRaw(a.out, c.Name), ",\"input\":{}}}\n\n"...)
		a.call = c.Index
		a.calls++
	}
	if len(c.Arguments) > 0 {
		a.delta(use, c.Arguments)
	}
	return nil
}

// appendCallID appends the id of a call: the engine's, or one made of the message's.
func appendCallID(dst, id, message []byte, n int) []byte {
	if len(id) > 0 {
		return doors.AppendRaw(dst, id)
	}
	dst = append(append(dst, `"toolu_`...), message...)
	return append(strconv.AppendInt(append(dst, '_'), int64(n), 10), '"')
}

// Done implements doors.Answer.
func (a *Answer) Done() []byte {
	a.out = a.out[:0]
	a.closes()
	a.out = append(a.out, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"...)
	a.out = append(appendStop(a.out, a.finish, a.stop, a.calls > 0), `},"usage":`...)
	a.out = append(appendUsage(a.out, a.usage), "}\n\n"...)
	return append(a.out, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

// appendStop appends why an answer ended.
func appendStop(dst, finish, stop []byte, calls bool) []byte {
	dst = append(dst, `"stop_reason":"`...)
	switch string(finish) {
	case "length":
		dst = append(dst, "max_tokens"...)
	case "tool_calls", "function_call":
		dst = append(dst, "tool_use"...)
	case "content_filter":
		dst = append(dst, "refusal"...)
	default:
		switch {
		case len(stop) > 0:
			dst = append(dst, `stop_sequence","stop_sequence":"`...)
			return append(append(dst, stop...), '"')
		case calls: // some engines stop after a call
			dst = append(dst, "tool_use"...)
		default:
			dst = append(dst, "end_turn"...)
		}
	}
	return append(dst, `","stop_sequence":null`...)
}

// appendUsage appends what an answer took. Messages counts what the cache had apart.
func appendUsage(dst []byte, u doors.Usage) []byte {
	dst = strconv.AppendInt(append(dst, `{"input_tokens":`...), int64(u.Prompt-u.Cached), 10)
	dst = append(dst, `,"cache_creation_input_tokens":0,"cache_read_input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.Cached), 10)
	dst = strconv.AppendInt(append(dst, `,"output_tokens":`...), int64(u.Completion), 10)
	return append(dst, '}')
}
