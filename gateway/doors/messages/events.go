package messages

import (
	"strconv"

	"octet/gateway/doors"
)

// Answer translates the answer to one request. The zero Answer is ready.
type Answer struct {
	out    []byte
	blocks doors.Blocks
	id     []byte      // of the message, for calls without one
	piece  []byte      // how a piece of the block that is open begins
	whole  doors.Chunk // an answer in one piece

	returns    bool // the request's last turn holds what tools returned
	billed     bool // its system prompt has a block for the client's provider
	lost       bool // an engine's own door would not have its model see all of it
	particular bool // an engine's own door may pass over something that it says
	prompt     int  // tokens, as far as they are known before the engine says so
}

var (
	_ doors.Answer  = (*Answer)(nil)
	_ doors.Speller = (*Answer)(nil)
)

// opening and delta are what the events of each kind of block hold but for their strings.
var (
	opening = [...]string{
		doors.Text:    `{"type":"text","text":""}}`,
		doors.Thought: `{"type":"thinking","thinking":"","signature":""}}`,
	}
	delta = [...]string{
		doors.Text:    `{"type":"text_delta","text":"`,
		doors.Thought: `{"type":"thinking_delta","thinking":"`,
		doors.Use:     `{"type":"input_json_delta","partial_json":"`,
	}
)

// CountedPrompt says how long the prompt is, in tokens, for message_start: an engine says so at the end.
func (a *Answer) CountedPrompt(tokens int) { a.prompt = tokens }

// AnswersTool returns true if the last turn of the request holds what tools returned, whatever stands behind it there.
func (a *Answer) AnswersTool() bool { return a.returns }

// Events implements doors.Answer.
func (a *Answer) Events(events []byte) ([]byte, error) {
	a.out = a.out[:0]
	err := a.blocks.Events(events, a)
	return a.out, err
}

// Begin implements doors.Speller: message_start.
func (a *Answer) Begin(k *doors.Chunk) {
	a.id = append(a.id, k.ID...)
	a.out = append(a.out, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_"...)
	a.out = append(append(a.out, k.ID...), `","type":"message","role":"assistant","model":"`...)
	a.out = append(append(a.out, k.Model...), `","content":[],"stop_reason":null,"stop_sequence":null,"usage":`...)
	u := k.Usage
	if !u.Known {
		u.Prompt = a.prompt
	}
	a.out = append(appendUsage(a.out, u), "}}\n\n"...)
}

// Open implements doors.Speller.
func (a *Answer) Open(call *doors.Call) {
	a.out = append(a.out, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"...)
	a.out = append(strconv.AppendInt(a.out, int64(a.blocks.Index), 10), `,"content_block":`...)
	a.frame()
	if call == nil {
		a.out = append(append(a.out, opening[a.blocks.Kind]...), "\n\n"...)
		return
	}
	a.out = append(a.out, `{"type":"tool_use","id":`...)
	a.out = append(appendCallID(a.out, call.ID, a.id, a.blocks.Calls), `,"name":`...)
	a.out = append(doors.AppendRaw(a.out, call.Name), ",\"input\":{}}}\n\n"...)
}

// frame notes what all pieces of the block that is open have in common.
func (a *Answer) frame() {
	a.piece = append(a.piece[:0], "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"...)
	a.piece = append(strconv.AppendInt(a.piece, int64(a.blocks.Index), 10), `,"delta":`...)
	a.piece = append(a.piece, delta[a.blocks.Kind]...)
}

// Piece implements doors.Speller.
func (a *Answer) Piece(raw []byte) {
	a.out = append(append(append(a.out, a.piece...), raw...), "\"}}\n\n"...)
}

// Close implements doors.Speller.
func (a *Answer) Close() {
	a.out = append(a.out, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	a.out = append(strconv.AppendInt(a.out, int64(a.blocks.Index), 10), "}\n\n"...)
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
	b := &a.blocks
	b.Close(a)
	a.out = append(a.out, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"...)
	a.out = append(appendStop(a.out, b.Finish, b.Stop, b.Calls > 0), `},"usage":`...)
	a.out = append(appendUsage(a.out, b.Usage), "}\n\n"...)
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
