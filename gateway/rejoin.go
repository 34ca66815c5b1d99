package gateway

import (
	"bytes"
	"slices"

	"octet/gateway/wire"
)

// cut is a value in a chunk and what comes in its place.
type cut struct {
	from, to int
	with     []byte
}

// chunkView is where in a chunk's JSON stands what a rejoined stream must say differently.
type chunkView struct {
	id, born                          cut
	prompt, completion, total, cached cut // of the usage; to 0 is none
	opening                           bool
}

const chunkDepth = 64

// remember notes the identity of the first engine's chunks.
func (c *continuation) remember(events []byte) {
	_, data := dataOf(events)
	if v, ok := view(data); ok {
		c.id = bytes.Clone(data[v.id.from:v.id.to])
		c.born = bytes.Clone(data[v.born.from:v.born.to])
	}
}

// joined returns the events of a later engine as the first one would have gone on: without the chunk that opens a
// message, under the first one's id and time, and with the usage of the whole. Valid until the next call.
func (c *continuation) joined(events []byte) []byte {
	c.event = c.event[:0]
	for len(events) > 0 {
		end := eventEnd(events)
		c.event = c.join(c.event, events[:end])
		events = events[end:]
	}
	return c.event
}

// eventEnd returns where the first of events ends: after its empty line.
func eventEnd(events []byte) int {
	end := len(events)
	for _, empty := range []string{"\n\n", "\n\r\n"} {
		if i := bytes.Index(events[:end], []byte(empty)); i >= 0 {
			end = i + len(empty)
		}
	}
	return end
}

func (c *continuation) join(dst, event []byte) []byte {
	at, data := dataOf(event)
	v, ok := view(data)
	switch {
	case !ok:
		return append(dst, event...)
	case v.opening:
		return dst
	}
	v.id.with, v.born.with = c.id, c.born
	c.account(data, &v)
	dst = append(dst, event[:at]...)
	return append(v.splice(dst, data), event[at+len(data):]...)
}

// splice appends data with the cuts made, in the order in which they stand.
func (v *chunkView) splice(dst, data []byte) []byte {
	cuts := [...]cut{v.id, v.born, v.prompt, v.completion, v.total, v.cached}
	slices.SortFunc(cuts[:], func(a, b cut) int { return a.from - b.from })
	done := 0
	for _, k := range cuts {
		if k.to > 0 && k.with != nil && k.from >= done {
			dst = append(append(dst, data[done:k.from]...), k.with...)
			done = k.to
		}
	}
	return append(dst, data[done:]...)
}

// dataOf returns the data of an event of one data line and where it stands; nil for any other.
func dataOf(event []byte) (at int, data []byte) {
	const field = "data:"
	i := bytes.Index(event, []byte(field))
	if i < 0 || i > 0 && event[i-1] != '\n' {
		return 0, nil
	}
	at = i + len(field)
	data, _, _ = bytes.Cut(event[at:], []byte{'\n'})
	return at, data
}

// view reads a chunk; false where it is none.
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
			k := value(&c)
			v.opening = opens(data[k.from:k.to])
		case "usage":
			v.usage(&c)
		default:
			c.Skip()
		}
	}
	return v, c.End()
}

func value(c *wire.Cursor) (k cut) {
	c.Peek()
	k.from = c.Offset()
	c.Skip()
	k.to = c.Offset()
	return k
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

// opens reports whether choices only open a message: they name a role, and bring neither text nor an end.
func opens(choices []byte) bool {
	return bytes.Contains(choices, []byte(`"role"`)) && !bytes.Contains(choices, []byte(`"finish_reason":"`)) &&
		(bytes.Contains(choices, []byte(`"content":""`)) || bytes.Contains(choices, []byte(`"content":null`)) ||
			!bytes.Contains(choices, []byte(`"content"`)))
}
