package stream

import (
	"bytes"
	"strconv"

	"octet/gateway/wire"
)

// chunkView is where in a chunk's JSON stands what a rejoined stream must say differently.
type chunkView struct {
	id, born                          cut
	role                              cut  // the member; empty if no role is named
	prompt, completion, total, cached cut  // of the usage; empty where it has no such member
	says                              bool // a choice brings output or its end
}

// remember notes the identity of the first engine's chunks.
func (c *Continuation) remember(events []byte) {
	_, data := dataOf(events)
	if v, ok := view(data); ok {
		c.id = bytes.Clone(data[v.id.from:v.id.to])
		c.born = bytes.Clone(data[v.born.from:v.born.to])
	}
}

// joined returns the events of a later engine as the first one would have gone on: without the chunk that opens a
// message, under the first one's id and time, and with the usage of the whole. Valid until the next call.
func (c *Continuation) joined(events []byte) []byte {
	c.event = c.event[:0]
	for len(events) > 0 {
		end := eventEnd(events)
		c.event = c.join(c.event, events[:end])
		events = events[end:]
	}
	return c.event
}

func (c *Continuation) join(dst, event []byte) []byte {
	at, data := dataOf(event)
	v, ok := view(data)
	switch {
	case !ok:
		return append(dst, event...)
	case v.role.to > 0 && !v.says:
		return dst
	}
	v.id.with, v.born.with = c.id, c.born
	c.account(data, &v)
	cuts := [...]cut{v.id, v.born, v.role, v.prompt, v.completion, v.total, v.cached}
	dst = splice(append(dst, event[:at]...), data, cuts[:])
	return append(dst, event[at+len(data):]...)
}

// view reads a chunk. It returns false for anything else.
func view(data []byte) (v chunkView, ok bool) {
	if len(data) == 0 {
		return v, false
	}
	c := wire.NewCursor(data, chunkDepth)
	if c.Peek() != '{' {
		return v, false
	}
	c.Enter('{')
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "id":
			v.id = value(&c)
		case "created":
			v.born = value(&c)
		case "choices":
			v.choices(&c, data)
		case "usage":
			v.usage(&c)
		default:
			c.Skip()
		}
	}
	return v, c.End()
}

func (v *chunkView) usage(c *wire.Cursor) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "prompt_tokens":
			v.prompt = value(c)
		case "completion_tokens":
			v.completion = value(c)
		case "total_tokens":
			v.total = value(c)
		case "prompt_tokens_details":
			v.details(c)
		default:
			c.Skip()
		}
	}
}

// details reads prompt_tokens_details, which is null where the engine does not tell.
func (v *chunkView) details(c *wire.Cursor) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	for name, more := c.Key(); more; name, more = c.Key() {
		if string(name) == "cached_tokens" {
			v.cached = value(c)
			continue
		}
		c.Skip()
	}
}

// account makes the usage in a chunk of a later engine the request's: the prompt as it was first counted, and the
// completion as all engines brought it.
func (c *Continuation) account(data []byte, v *chunkView) {
	prompt, known := numberAt(data, v.prompt)
	if known {
		prompt = c.promptOf(prompt)
		v.prompt.with = strconv.AppendInt(nil, int64(prompt), 10)
	}
	completion, ok := numberAt(data, v.completion)
	if ok {
		completion += c.base
		v.completion.with = strconv.AppendInt(nil, int64(completion), 10)
	}
	if ok && known {
		v.total.with = strconv.AppendInt(nil, int64(prompt+completion), 10)
	}
	if cached, ok := numberAt(data, v.cached); ok && known {
		v.cached.with = strconv.AppendInt(nil, int64(min(cached, prompt)), 10)
	}
}

// promptOf is the request's prompt in tokens, where a later engine counts so many, some of which are the answer's.
func (c *Continuation) promptOf(later int) int {
	if c.prompt > 0 {
		return c.prompt
	}
	return max(0, later-c.base)
}

func numberAt(data []byte, k cut) (n int, ok bool) {
	n, err := strconv.Atoi(string(data[k.from:k.to]))
	return n, err == nil
}
