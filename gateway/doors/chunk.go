package doors

import (
	"bytes"
	"errors"

	"octet/gateway/wire"
)

// ErrChunk says that an engine's answer is no chat completion, or holds what a door has no words for.
var ErrChunk = errors.New("doors: not a chat completion of one choice")

// Chunk is what a chat completion, or one event of its stream, says. All but Calls aliases what was read. Strings are
// what stands between their quotes; nil if absent.
type Chunk struct {
	ID, Model  []byte
	Created    int    // Unix time, in seconds
	Text       []byte // of the answer
	Reasoning  []byte
	Refusal    []byte
	Calls      []Call
	Finish     []byte // finish_reason
	StopString []byte // the stop string that ended the answer, where the engine says so
	Usage      Usage
}

// Call is a tool call, or a piece of one.
type Call struct {
	Index               int
	ID, Name, Arguments []byte
}

// Usage is what an answer took, in tokens.
type Usage struct {
	Known                                 bool
	Prompt, Completion, Cached, Reasoning int
}

// chunkDepth is how deep a chunk may nest.
const chunkDepth = 64

// Read reads one chunk or completion. Calls is used again.
func (k *Chunk) Read(data []byte) error {
	*k = Chunk{Calls: k.Calls[:0]}
	c := wire.NewCursor(data, chunkDepth)
	if c.Peek() != '{' {
		return ErrChunk
	}
	c.Enter('{')
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "id":
			k.ID = quoted(&c)
		case "model":
			k.Model = quoted(&c)
		case "created":
			k.Created, _ = c.Int()
		case "choices":
			k.choices(&c)
		case "usage":
			k.Usage.read(&c)
		default:
			c.Skip()
		}
	}
	if !c.End() {
		return ErrChunk
	}
	return nil
}

// quoted returns a string, nil for any other value.
func quoted(c *wire.Cursor) []byte {
	if c.Peek() != '"' {
		c.Skip()
		return nil
	}
	return c.Quoted()
}

// object calls member with the name of each member of an object; any other value is passed over.
func object(c *wire.Cursor, member func(name string)) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	for name, more := c.Key(); more; name, more = c.Key() {
		member(string(name))
	}
}

// elements calls element at each element of an array; any other value is passed over.
func elements(c *wire.Cursor, element func()) {
	if c.Peek() != '[' {
		c.Skip()
		return
	}
	for c.Enter('['); c.More(); {
		element()
	}
}

func (k *Chunk) choices(c *wire.Cursor) {
	elements(c, func() { object(c, func(name string) { k.choice(c, name) }) })
}

func (k *Chunk) choice(c *wire.Cursor, name string) {
	switch name {
	case "delta", "message":
		object(c, func(name string) { k.message(c, name) })
	case "finish_reason":
		k.Finish = quoted(c)
	case "stop_reason", "matched_stop", "stopping_word":
		if stop := quoted(c); len(stop) > 0 {
			k.StopString = stop
		}
	default:
		c.Skip()
	}
}

// message reads a member of a delta or a message.
func (k *Chunk) message(c *wire.Cursor, name string) {
	switch name {
	case "content":
		k.Text = quoted(c)
	case "reasoning_content", "reasoning":
		if text := quoted(c); len(text) > 0 {
			k.Reasoning = text
		}
	case "refusal":
		k.Refusal = quoted(c)
	case "tool_calls":
		elements(c, func() { k.call(c) })
	default:
		c.Skip()
	}
}

func (k *Chunk) call(c *wire.Cursor) {
	call := Call{Index: len(k.Calls)}
	object(c, func(name string) {
		switch name {
		case "index":
			call.Index, _ = c.Int()
		case "id":
			call.ID = quoted(c)
		case "function":
			object(c, func(name string) {
				switch name {
				case "name":
					call.Name = quoted(c)
				case "arguments":
					call.Arguments = quoted(c)
				default:
					c.Skip()
				}
			})
		default:
			c.Skip()
		}
	})
	k.Calls = append(k.Calls, call)
}

func (u *Usage) read(c *wire.Cursor) {
	object(c, func(name string) {
		u.Known = true
		switch name {
		case "prompt_tokens":
			u.Prompt = count(c)
		case "completion_tokens":
			u.Completion = count(c)
		case "prompt_tokens_details", "completion_tokens_details":
			object(c, func(name string) {
				switch name {
				case "cached_tokens":
					u.Cached = count(c)
				case "reasoning_tokens":
					u.Reasoning = count(c)
				default:
					c.Skip()
				}
			})
		default:
			c.Skip()
		}
	})
	u.Cached = min(u.Cached, u.Prompt)
}

// count returns a number of tokens; 0 for any other value.
func count(c *wire.Cursor) int {
	n, _ := c.Int()
	return max(n, 0)
}

// EachChunk calls f with the data of each event. Comments are passed over, and so is [DONE].
func EachChunk(events []byte, f func(data []byte) error) error {
	for len(events) > 0 {
		line := events
		if i := bytes.IndexByte(events, '\n'); i >= 0 {
			line, events = events[:i], events[i+1:]
		} else {
			events = nil
		}
		data, is := bytes.CutPrefix(line, []byte("data:"))
		data = bytes.TrimSpace(data)
		if !is || len(data) == 0 || string(data) == "[DONE]" {
			continue
		}
		if err := f(data); err != nil {
			return err
		}
	}
	return nil
}

// AppendRaw appends a string whose inside is known.
func AppendRaw(dst, inside []byte) []byte { return append(append(append(dst, '"'), inside...), '"') }
