package stream

import (
	"bytes"
	"cmp"
	"slices"

	"octet/gateway/wire"
)

// cut is a part of an event's JSON and what comes in its place; nil leaves it as it is. A zero cut changes nothing.
type cut struct {
	from, to int
	with     []byte
}

// splice appends data with the cuts made. It sorts cuts; one that begins within another is left out.
func splice(dst, data []byte, cuts []cut) []byte {
	slices.SortFunc(cuts, func(a, b cut) int { return cmp.Compare(a.from, b.from) })
	done := 0
	for _, k := range cuts {
		if k.to > 0 && k.with != nil && k.from >= done {
			dst = append(append(dst, data[done:k.from]...), k.with...)
			done = k.to
		}
	}
	return append(dst, data[done:]...)
}

// chunkDepth is how deep a chunk may nest that is rewritten. Deeper ones pass as they are.
const chunkDepth = 64

// value passes over a value and returns where it stands.
func value(c *wire.Cursor) (k cut) {
	c.Peek()
	k.from = c.Offset()
	c.Skip()
	k.to = c.Offset()
	return k
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
