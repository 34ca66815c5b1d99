package doors

import (
	"errors"
	"fmt"

	"octet/gateway/wire"
)

// ErrChunk says that an engine's answer is no chat completion, or holds what a door has no words for.
var ErrChunk = errors.New("doors: not a chat completion of one choice")

// ErrNoWords is ErrChunk for a chat completion that is one: its model has said what the door has no words for.
var ErrNoWords = fmt.Errorf("%w that the door has words for", ErrChunk)

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

	textAt int // where Text begins in what was read
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

// enter opens a container that begins with open; any other value is passed over.
func enter(c *wire.Cursor, open byte) bool {
	if c.Peek() != open {
		c.Skip()
		return false
	}
	return c.Enter(open)
}

func (k *Chunk) choices(c *wire.Cursor) {
	if !enter(c, '[') {
		return
	}
	for c.More() {
		k.choice(c)
	}
}

func (k *Chunk) choice(c *wire.Cursor) {
	if !enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "delta", "message":
			k.message(c)
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
}

// message reads a delta or a message.
func (k *Chunk) message(c *wire.Cursor) {
	if !enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "content":
			k.Text = quoted(c)
			k.textAt = c.Offset() - 1 - len(k.Text)
		case "reasoning_content", "reasoning":
			if text := quoted(c); len(text) > 0 {
				k.Reasoning = text
			}
		case "refusal":
			k.Refusal = quoted(c)
		case "tool_calls":
			k.calls(c)
		default:
			c.Skip()
		}
	}
}

func (k *Chunk) calls(c *wire.Cursor) {
	if !enter(c, '[') {
		return
	}
	for c.More() {
		call := Call{Index: len(k.Calls)}
		call.read(c)
		k.Calls = append(k.Calls, call)
	}
}

func (l *Call) read(c *wire.Cursor) {
	if !enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "index":
			l.Index, _ = c.Int()
		case "id":
			l.ID = quoted(c)
		case "function":
			l.function(c)
		default:
			c.Skip()
		}
	}
}

func (l *Call) function(c *wire.Cursor) {
	if !enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "name":
			l.Name = quoted(c)
		case "arguments":
			l.Arguments = quoted(c)
		default:
			c.Skip()
		}
	}
}

func (u *Usage) read(c *wire.Cursor) {
	if !enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		u.Known = true
		switch string(name) {
		case "prompt_tokens":
			u.Prompt = count(c)
		case "completion_tokens":
			u.Completion = count(c)
		case "prompt_tokens_details", "completion_tokens_details":
			u.details(c)
		default:
			c.Skip()
		}
	}
	u.Cached = min(u.Cached, u.Prompt)
}

func (u *Usage) details(c *wire.Cursor) {
	if !enter(c, '{') {
		return
	}
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "cached_tokens":
			u.Cached = count(c)
		case "reasoning_tokens":
			u.Reasoning = count(c)
		default:
			c.Skip()
		}
	}
}

// count returns a number of tokens; 0 for any other value.
func count(c *wire.Cursor) int {
	n, _ := c.Int()
	return max(n, 0)
}
