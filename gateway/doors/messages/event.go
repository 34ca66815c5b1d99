package messages

import (
	"octet/gateway/doors"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// nativeEvent is one event of Messages as an engine writes it, or a message. Strings are what stands between their
// quotes.
type nativeEvent struct {
	of      []byte // its type
	id      []byte // of the message
	index   int
	inside  []byte   // the type of its delta, or of its block
	piece   []byte   // of a delta
	at      sse.Span // where that is
	text    []byte   // of a message's blocks, or of one that begins
	stop    []byte   // stop_reason
	usage   sse.Usage
	told    bool // it has a usage
	failed  *sse.EngineError
	endless bool       // its reason to end is null, as that of a message that begins
	calls   []sse.Call // of a message's blocks, or of one that begins

	data []byte // that is read
}

// read reads an event or a message; false if it is no JSON object.
func (e *nativeEvent) read(data []byte) bool {
	c, ok := doors.NewReader(data)
	if !ok {
		return false
	}
	e.data = data
	e.object(&c, false)
	return c.End()
}

// object reads an event, or the message that one holds, whose type is known.
func (e *nativeEvent) object(c *wire.Cursor, inner bool) {
	if !doors.Enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "type":
			if of := doors.Quoted(c); !inner {
				e.of = of
			}
		case "id":
			e.id = doors.Quoted(c)
		case "index":
			e.index, _ = c.Int()
		case "message":
			e.object(c, true)
		case "delta", "content_block":
			e.part(c)
		case "content":
			e.parts(c)
		case "stop_reason":
			e.stops(c)
		case "usage":
			e.readUsage(c)
		case "error":
			e.failed = doors.ReadError(c)
		default:
			c.Skip()
		}
	}
}

// stops reads why an answer has ended.
func (e *nativeEvent) stops(c *wire.Cursor) {
	e.endless = c.Peek() == 'n'
	e.stop = doors.Quoted(c)
}

func (e *nativeEvent) parts(c *wire.Cursor) {
	if !doors.Enter(c, '[') {
		return
	}
	for c.More() {
		e.part(c)
	}
}

// part reads a delta or a block.
func (e *nativeEvent) part(c *wire.Cursor) {
	if !doors.Enter(c, '{') {
		return
	}
	var call sse.Call
	e.inside = nil
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "type":
			e.inside = doors.Quoted(c)
		case "id":
			call.ID = doors.Quoted(c)
		case "name":
			call.Name = doors.Quoted(c)
		case "input":
			e.input(c, &call)
		case "text":
			e.takePiece(c)
			e.say()
		case "thinking", "partial_json":
			e.takePiece(c)
		case "stop_reason":
			e.stops(c)
		default:
			c.Skip()
		}
	}
	if string(e.inside) == "tool_use" {
		call.Index = len(e.calls)
		e.calls = append(e.calls, call)
	}
}

// input reads what a call is given. Of a call that begins, whose pieces follow, that is nothing.
func (e *nativeEvent) input(c *wire.Cursor, call *sse.Call) {
	c.Peek()
	from := c.Offset()
	if c.Skip(); c.Offset() > from+len("{}") {
		call.Arguments, call.Value = e.data[from:c.Offset()], true
	}
}

func (e *nativeEvent) takePiece(c *wire.Cursor) {
	e.piece = doors.Quoted(c)
	e.at = sse.Span{From: c.Offset() - 1 - len(e.piece), To: c.Offset() - 1}
}

// say adds a block's text. The first lies in the memory of what is read.
func (e *nativeEvent) say() {
	if e.text == nil {
		e.text = e.piece
		return
	}
	e.text = append(e.text[:len(e.text):len(e.text)], e.piece...)
}

// readUsage reads a usage. Messages counts apart what a cache had and what was put there.
func (e *nativeEvent) readUsage(c *wire.Cursor) {
	if !doors.Enter(c, '{') {
		return
	}
	u := &e.usage
	for name, more := c.Key(); more; name, more = c.Key() {
		e.told = true
		switch string(name) {
		case "input_tokens", "cache_creation_input_tokens":
			u.PromptTokens += doors.Count(c)
		case "cache_read_input_tokens":
			u.CachedKnown = c.Peek() != 'n'
			u.CachedTokens = doors.Count(c)
			u.PromptTokens += u.CachedTokens
		case "output_tokens":
			u.CompletionTokens = doors.Count(c)
		default:
			c.Skip()
		}
	}
}
