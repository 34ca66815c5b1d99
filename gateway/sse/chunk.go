package sse

// maxDepth bounds the nesting of what an engine says.
const maxDepth = 64

// chunk is what one JSON object of an engine says: a chunk of a stream, or a whole answer.
type chunk struct {
	output      bool // any choice brought text, reasoning, refusal or a tool call
	reasoning   bool
	otherOutput bool // output that is no text
	texts       int  // non-empty texts, of any choice and kind
	at, size    int  // where in the data the last of them is
	text        []byte
	finish      []byte // raw
	usage       Usage
	hasUsage    bool
	failed      bool // it is an error object
	flat        bool // … whose fields are the object's own
}

// choice is one element of choices, whose members come in any order.
type choice struct {
	index int
	text  []byte // content or text, raw
}

// read walks data once, false unless it is one JSON object. What an object repeats counts as often as it comes.
func (k *chunk) read(data []byte) bool {
	r := &reader{b: data, room: maxDepth}
	if r.peek() != '{' {
		return false
	}
	for r.enter(); r.key(); {
		switch string(r.name) {
		case "choices":
			k.choices(r)
		case "usage":
			k.readUsage(r)
		case "error":
			ch := r.peek()
			k.failed = k.failed || ch != 'n' && ch != 'f'
			r.skip()
		case "object":
			k.flat = k.flat || string(r.quoted()) == "error"
			k.failed = k.failed || k.flat
		default:
			r.skip()
		}
	}
	return r.end()
}

// orElse is raw, or what was there before when raw is empty.
func orElse(raw, before []byte) []byte {
	if len(raw) > 0 {
		return raw
	}
	return before
}

func (k *chunk) choices(r *reader) {
	if r.peek() != '[' {
		r.skip()
		return
	}
	for r.enter(); r.more(); {
		k.choice(r)
	}
}

func (k *chunk) choice(r *reader) {
	if r.peek() != '{' {
		r.skip()
		return
	}
	var ch choice
	for r.enter(); r.key(); {
		switch string(r.name) {
		case "index":
			ch.index, _ = r.integer()
		case "delta", "message":
			k.delta(r, &ch)
		case "text":
			ch.text = orElse(k.piece(r), ch.text)
		case "finish_reason":
			k.finish = orElse(r.quoted(), k.finish)
		default:
			r.skip()
		}
	}
	if ch.index == 0 && len(ch.text) > 0 {
		k.text = ch.text
	}
}

func (k *chunk) delta(r *reader, ch *choice) {
	if r.peek() != '{' {
		r.skip()
		return
	}
	for r.enter(); r.key(); {
		switch string(r.name) {
		case "content":
			ch.text = orElse(k.piece(r), ch.text)
		case "reasoning_content", "reasoning":
			k.reasoning = len(k.piece(r)) > 0 || k.reasoning
		case "refusal":
			k.other(len(k.piece(r)) > 0)
		case "tool_calls":
			k.other(filled(r, '['))
		case "function_call":
			k.other(filled(r, '{'))
		default:
			r.skip()
		}
	}
}

// piece reads a value and returns the inside of a string, which counts as output unless it is empty.
func (k *chunk) piece(r *reader) []byte {
	raw := r.quoted()
	if len(raw) > 0 {
		k.output = true
		k.texts++
		k.at, k.size = r.i-1-len(raw), len(raw)
	}
	return raw
}

func (k *chunk) other(output bool) {
	k.output = k.output || output
	k.otherOutput = k.otherOutput || output
}

// filled skips a value and reports whether it is a container that opens so, with something in it.
func filled(r *reader, open byte) bool {
	if r.peek() != open {
		r.skip()
		return false
	}
	n := 0
	for r.enter(); open == '{' && r.key() || open == '[' && r.more(); n++ {
		r.skip()
	}
	return n > 0
}
