package sse

import "octet/gateway/wire"

// maxDepth bounds the nesting of what an engine says.
const maxDepth = 64

// chunk is what one JSON object of an engine says: a chunk of a stream, or a whole answer.
type chunk struct {
	output      bool // any choice brought text, reasoning, refusal or a tool call
	reasoning   bool
	otherOutput bool   // output that is no text
	texts       int    // non-empty texts, of any choice and kind
	at, size    int    // where in the data the last of them is
	text        []byte // of choice 0
	thought     []byte // its reasoning
	finish      []byte // raw
	usage       Usage
	hasUsage    bool
	failed      bool // it is an error object
	flat        bool // … whose fields are the object's own

	ends [holdings]int // where each value ends that is held; 0 is nowhere

	choices   int  // elements of choices
	index     int  // of the last of them
	predicted int  // tokens so far by timings, as llama.cpp has them
	choicesAt span // the value
	finishAt  span // the value of the last choice's finish_reason
	usageAt   span // the member, from behind the value before it
	timings   span // likewise

	usageValue, completion, total span // the usage, and numbers in it
	ids, promptIDs                span // lists of token ids of the last choice: of this event, and of its prompt
	calls                         span // tool_calls or function_call of choice 0, where something is in it
}

// span is where something is in the data; to 0 is nowhere.
type span struct{ from, to int }

// choice is one element of choices, whose members come in any order.
type choice struct {
	index int
	text  []byte // content or text, raw
	end   int    // where it ends
	calls span   // tool_calls or function_call, where something is in it

	thought []byte // reasoning, raw; once, though some engines send it under both its names
}

// say takes on the text that ends at end, unless it is empty.
func (ch *choice) say(raw []byte, end int) {
	if len(raw) > 0 {
		ch.text, ch.end = raw, end
	}
}

// read walks data once, false unless it is one JSON object. What an object repeats counts as often as it comes.
func (k *chunk) read(data []byte) bool {
	c := wire.NewCursor(data, maxDepth)
	if c.Peek() != '{' {
		return false
	}
	c.Enter('{')
	behind := c.Offset()
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		switch string(name) {
		case "choices":
			c.Peek()
			k.choicesAt.from = c.Offset()
			k.readChoices(&c)
			k.choicesAt.to = c.Offset()
		case "usage":
			c.Peek()
			k.usageValue.from = c.Offset()
			k.readUsage(&c)
			k.usageValue.to = c.Offset()
			k.usageAt = span{behind, c.Offset()}
		case "timings":
			k.readTimings(&c)
			k.timings = span{behind, c.Offset()}
		case "error":
			ch := c.Peek()
			k.failed = k.failed || ch != 'n' && ch != 'f'
			c.Skip()
		case "object":
			k.flat = k.flat || string(quoted(&c)) == "error"
			k.failed = k.failed || k.flat
		default:
			c.Skip()
		}
		behind = c.Offset()
	}
	return c.End()
}

// quoted reads a value and returns the inside of a string, nil for anything else.
func quoted(c *wire.Cursor) []byte {
	if c.Peek() != '"' {
		c.Skip()
		return nil
	}
	return c.Quoted()
}

// member moves to the value of the next member, false at the end of the open object.
func member(c *wire.Cursor) bool {
	_, ok := c.Key()
	return ok
}

func (k *chunk) readChoices(c *wire.Cursor) {
	if c.Peek() != '[' {
		c.Skip()
		return
	}
	for c.Enter('['); c.More(); {
		k.choices++
		k.choice(c)
	}
}

func (k *chunk) choice(c *wire.Cursor) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	var ch choice
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		switch string(name) {
		case "index":
			ch.index, _ = c.Int()
		case "delta", "message":
			k.delta(c, &ch)
		case "text":
			ch.say(k.piece(c), c.Offset())
		case "token_ids":
			k.ids = list(c)
		case "prompt_token_ids":
			k.promptIDs = list(c)
		case "finish_reason":
			c.Peek()
			k.finishAt.from = c.Offset()
			if raw := quoted(c); len(raw) > 0 {
				k.finish, k.ends[holdsFinish] = raw, c.Offset()
			}
			k.finishAt.to = c.Offset()
		default:
			c.Skip()
		}
	}
	if k.index = ch.index; ch.index == 0 {
		k.first(&ch)
	}
}

// first takes on what choice 0 says.
func (k *chunk) first(ch *choice) {
	if len(ch.text) > 0 {
		k.text, k.ends[holdsText] = ch.text, ch.end
	}
	if len(ch.thought) > 0 {
		k.thought = ch.thought
	}
	if ch.calls.to > 0 {
		k.calls = ch.calls
	}
}

// list skips a value and returns where it is, nowhere unless it is a list of something.
func list(c *wire.Cursor) (at span) {
	first := c.Peek()
	from := c.Offset()
	if c.Skip(); first == '[' && c.Offset() > from+len("[]") {
		return span{from, c.Offset()}
	}
	return at
}

func (k *chunk) delta(c *wire.Cursor, ch *choice) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		switch string(name) {
		case "content":
			ch.say(k.piece(c), c.Offset())
		case "reasoning_content", "reasoning":
			if raw := k.piece(c); len(raw) > 0 {
				k.reasoning, ch.thought = true, raw
			}
		case "refusal":
			k.other(len(k.piece(c)) > 0)
		case "tool_calls":
			k.called(c, ch, '[')
		case "function_call":
			k.called(c, ch, '{')
		default:
			c.Skip()
		}
	}
}

// piece reads a value and returns the inside of a string, which counts as output unless it is empty.
func (k *chunk) piece(c *wire.Cursor) []byte {
	raw := quoted(c)
	if len(raw) > 0 {
		k.output = true
		k.texts++
		k.at, k.size = c.Offset()-1-len(raw), len(raw)
	}
	return raw
}

func (k *chunk) other(output bool) {
	k.output = k.output || output
	k.otherOutput = k.otherOutput || output
}

// called passes tool calls, in a container that opens so.
func (k *chunk) called(c *wire.Cursor, ch *choice, open byte) {
	c.Peek()
	from := c.Offset()
	if filled(c, open) {
		k.other(true)
		ch.calls = span{from, c.Offset()}
	}
}

// filled skips a value and reports whether it is a container that opens so, with something in it.
func filled(c *wire.Cursor, open byte) bool {
	if c.Peek() != open {
		c.Skip()
		return false
	}
	n := 0
	for c.Enter(open); open == '[' && c.More() || open == '{' && member(c); n++ {
		c.Skip()
	}
	return n > 0
}
