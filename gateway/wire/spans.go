package wire

import "slices"

// Spans are where the long values of a text end that was read once by strict rules. Its cursors pass over them without
// reading them again. The zero Spans knows of none. Safe for concurrent reading.
type Spans struct {
	text []byte
	all  []span // in the order in which the values begin
	room [32]span
}

// span is a value that is a string, an object or an array.
type span struct {
	off, end uint32
	form     form // of a string
}

// spanLength is how long a value is that is noted, in bytes: below it, reading it is as fast as finding its span.
const spanLength = 128

// NewSpans checks b as Check does, and notes its long values. b must not change while the spans are in use. The error
// is an *Error.
func NewSpans(b []byte, depth int) (*Spans, error) {
	s := &Spans{text: b}
	s.all = s.room[:0]
	if err := check(b, depth, s); err != nil {
		return nil, err
	}
	return s, nil
}

// Cursor reads the part of the text from off to end as NewCursor reads a text, containers of any depth.
func (s *Spans) Cursor(off, end int) Cursor {
	return Cursor{b: s.text[off:end:end], room: len(s.text), lax: true, known: s, base: off}
}

// Text returns the text.
func (s *Spans) Text() []byte { return s.text }

// find returns the value that begins at off, if it is noted.
func (s *Spans) find(off int) (span, bool) {
	i, ok := slices.BinarySearchFunc(s.all, uint32(off), func(known span, off uint32) int {
		return int(known.off) - int(off)
	})
	if !ok {
		return span{}, false
	}
	return s.all[i], true
}

// begin makes room for the span of a value that begins at off and holds others, and returns which it is.
func (s *Spans) begin(off int) int {
	s.all = append(s.all, span{off: uint32(off)})
	return len(s.all) - 1
}

// finish notes the value that begin made room for. One that is not long holds none that is.
func (s *Spans) finish(i, end int) {
	if end-int(s.all[i].off) < spanLength {
		s.all = s.all[:i]
		return
	}
	s.all[i].end = uint32(end)
}

// string notes a string that is long; its quotes are around t.
func (s *Spans) string(t text) {
	if t.end-t.off+2 >= spanLength {
		s.all = append(s.all, span{off: t.off - 1, end: t.end + 1, form: t.form})
	}
}

// jump passes over the value at c.i, and returns what is between its quotes or brackets, if it is noted.
func (c *Cursor) jump() (value text, ok bool) {
	if c.known == nil {
		return text{}, false
	}
	noted, ok := c.known.find(c.base + c.i)
	if !ok {
		return text{}, false
	}
	value = text{off: uint32(c.i + 1), end: noted.end - uint32(c.base) - 1, form: noted.form}
	c.i = int(value.end) + 1
	return value, true
}
