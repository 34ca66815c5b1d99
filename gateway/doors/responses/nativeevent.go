package responses

import (
	"octet/gateway/doors"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// nativeEvent is one event of Responses as an engine writes it, or a response. Strings are what stands between their
// quotes.
type nativeEvent struct {
	of          []byte // its type; of a response, its object
	number      int    // sequence_number
	index       int    // output_index
	delta       []byte
	at, no      sse.Span // where delta and number are
	item        nativeItem
	failed      *sse.EngineError
	code, words []byte // of an event that is an error itself

	id, model, status, reason []byte // of the response, and why it is incomplete
	created                   int
	usage                     sse.Usage
	told                      bool // it has a usage
	text                      []byte
	calls                     []sse.Call
}

// nativeItem is an item of a response.
type nativeItem struct {
	raw                  []byte
	of, id, callID, name []byte
	arguments            []byte
}

// read reads an event; false if it is no JSON object.
func (e *nativeEvent) read(data []byte) bool {
	c, ok := doors.NewReader(data)
	if !ok {
		return false
	}
	c.Enter('{')
	for name, more := c.Key(); more; name, more = c.Key() {
		e.member(&c, name, data)
	}
	return c.End()
}

func (e *nativeEvent) member(c *wire.Cursor, name, data []byte) {
	switch string(name) {
	case "type":
		e.of = doors.Quoted(c)
	case "sequence_number":
		c.Peek()
		e.no.From = c.Offset()
		e.number = doors.Count(c)
		e.no.To = c.Offset()
	case "output_index":
		e.index = doors.Count(c)
	case "delta":
		e.delta = doors.Quoted(c)
		e.at = sse.Span{From: c.Offset() - 1 - len(e.delta), To: c.Offset() - 1}
	case "item":
		c.Peek()
		from := c.Offset()
		e.item.read(c, nil)
		e.item.raw = data[from:c.Offset()]
	case "response":
		e.response(c)
	case "code":
		e.code = doors.Quoted(c)
	case "message":
		e.words = doors.Quoted(c)
	case "error":
		e.refused(c)
	default:
		c.Skip()
	}
}

// refused reads an error object; null counts as absent.
func (e *nativeEvent) refused(c *wire.Cursor) {
	if c.Peek() == '{' {
		e.failed = doors.ReadError(c)
		return
	}
	c.Skip()
}

// response reads a response.
func (e *nativeEvent) response(c *wire.Cursor) {
	if !doors.Enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		e.ofResponse(c, name)
	}
}

func (e *nativeEvent) ofResponse(c *wire.Cursor, name []byte) {
	switch string(name) {
	case "id":
		e.id = doors.Quoted(c)
	case "model":
		e.model = doors.Quoted(c)
	case "status":
		e.status = doors.Quoted(c)
	case "created_at":
		e.created = doors.Count(c)
	case "incomplete_details":
		e.incomplete(c)
	case "usage":
		e.readUsage(c)
	case "output":
		e.output(c)
	case "error":
		e.refused(c)
	default:
		c.Skip()
	}
}

func (e *nativeEvent) incomplete(c *wire.Cursor) {
	if !doors.Enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		if string(name) == "reason" {
			e.reason = doors.Quoted(c)
			continue
		}
		c.Skip()
	}
}

// output reads the items of a response for their text.
func (e *nativeEvent) output(c *wire.Cursor) {
	if !doors.Enter(c, '[') {
		return
	}
	for c.More() {
		it := nativeItem{}
		var said []byte
		it.read(c, &said)
		switch string(it.of) {
		case "function_call":
			e.calls = append(e.calls,
				sse.Call{Index: len(e.calls), ID: it.callID, Name: it.name, Arguments: it.arguments})
		case "message":
			e.say(said)
		}
	}
}

// say adds an item's text. The first lies in the memory of what is read.
func (e *nativeEvent) say(raw []byte) {
	if e.text == nil {
		e.text = raw
		return
	}
	e.text = append(e.text[:len(e.text):len(e.text)], raw...)
}

func (e *nativeEvent) readUsage(c *wire.Cursor) {
	if !doors.Enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		e.told = true
		switch string(name) {
		case "input_tokens":
			e.usage.PromptTokens = doors.Count(c)
		case "output_tokens":
			e.usage.CompletionTokens = doors.Count(c)
		case "input_tokens_details":
			e.cached(c)
		default:
			c.Skip()
		}
	}
}

func (e *nativeEvent) cached(c *wire.Cursor) {
	if !doors.Enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		if string(name) != "cached_tokens" {
			c.Skip()
			continue
		}
		e.usage.CachedKnown = c.Peek() != 'n'
		e.usage.CachedTokens = doors.Count(c)
	}
}

// read reads an item. said gets the text of its parts; nil leaves them.
func (t *nativeItem) read(c *wire.Cursor, said *[]byte) {
	if !doors.Enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "type":
			t.of = doors.Quoted(c)
		case "id":
			t.id = doors.Quoted(c)
		case "call_id":
			t.callID = doors.Quoted(c)
		case "name":
			t.name = doors.Quoted(c)
		case "arguments":
			t.arguments = doors.Quoted(c)
		case "content":
			readParts(c, said)
		default:
			c.Skip()
		}
	}
}

// readParts reads the parts of an item for their text.
func readParts(c *wire.Cursor, said *[]byte) {
	if said == nil {
		c.Skip()
		return
	}
	if !doors.Enter(c, '[') {
		return
	}
	for c.More() {
		if !doors.Enter(c, '{') {
			continue
		}
		for name, more := c.Key(); more; name, more = c.Key() {
			if string(name) != "text" {
				c.Skip()
				continue
			}
			if text := doors.Quoted(c); *said == nil {
				*said = text
			} else {
				*said = append((*said)[:len(*said):len(*said)], text...)
			}
		}
	}
}
