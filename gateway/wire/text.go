package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// text is a JSON string by its place, without its quotes. Nothing is copied until its plain form is asked for.
type text struct {
	off, end uint32
	form     form
}

type form uint8

const (
	// in the body, with escapes; as sawEscape. Without: in the body, and plain as it stands
	formEscaped form = 1 << iota
	formArena        // in the cursor's arena, plain
	formLoose        // formEscaped, and its wording is another; as sawLoose
)

// text reads the string at c.i, which must be on its opening quote.
func (c *Cursor) text() text {
	if c.i >= len(c.b) || c.b[c.i] != '"' {
		c.unexpected()
		return text{}
	}
	start := c.i + 1
	if len(c.b)-start < 16 {
		return c.longText(start)
	}
	p := (*[16]byte)(c.b[start:])
	m := unplain(binary.LittleEndian.Uint64(p[:8]))
	n := 0
	if m == 0 {
		m = unplain(binary.LittleEndian.Uint64(p[8:]))
		n = 8
	}
	if n += bits.TrailingZeros64(m) >> 3; n < 16 && p[n] == '"' {
		c.i = start + n + 1
		return text{off: uint32(start), end: uint32(start + n)}
	}
	return c.longText(start)
}

// longText reads the rest of a string of any kind, from its first byte on.
func (c *Cursor) longText(start int) text {
	end, saw := c.body(start)
	if end < 0 {
		return text{}
	}
	if saw&sawHigh != 0 && !c.lax && !validUTF8(c.b[start:end]) {
		c.fail(CodeInvalidUTF8, start, "a string is not valid UTF-8")
		return text{}
	}
	c.i = end + 1
	c.untidy = c.untidy || saw&sawLoose != 0
	return text{off: uint32(start), end: uint32(end), form: form(saw &^ sawHigh)}
}

// Inside returns true if b can stand between the quotes of a string: as NewCursor reads them, UTF-8 and lone surrogates
// are not judged.
func Inside(b []byte) bool {
	for i := 0; ; {
		at, _ := pass(b, i)
		if at >= len(b) || b[at] != '\\' {
			return at >= len(b)
		}
		_, n := decodeEscape(b[at:])
		if n == 0 {
			return false
		}
		i = at + n
	}
}

// body finds the closing quote of the string whose first byte is at i; -1 after a fault.
func (c *Cursor) body(i int) (end int, all seen) {
	for {
		at, saw := pass(c.b, i)
		all |= saw
		switch {
		case at >= len(c.b):
			c.fail(CodeInvalidJSON, len(c.b), "unexpected end")
			return -1, all
		case c.b[at] == '"':
			return at, all
		case c.b[at] != '\\':
			c.fail(CodeInvalidJSON, at, "a control character in a string")
			return -1, all
		}
		n := c.escape(at)
		if n == 0 {
			return -1, all
		}
		all |= sawEscape | sawLoose
		i = at + n
	}
}

// escape judges the escape at i, which has more than one letter, and returns its length, a surrogate pair being one; 0
// after a fault.
func (c *Cursor) escape(i int) int {
	r, n := decodeEscape(c.b[i:])
	if n == 0 {
		c.fail(CodeInvalidJSON, i, "a bad escape in a string")
		return 0
	}
	if r == utf8.RuneError && !c.lax && !isReplacement(c.b[i:]) {
		c.fail(CodeInvalidUTF8, i, "a lone surrogate in a string")
		return 0
	}
	return n
}

// bytes returns what t stands for; escapes as they are unless t is plain.
func (c *Cursor) bytes(t text) []byte {
	if t.form == formArena {
		return c.arena[t.off:t.end:t.end]
	}
	return c.b[t.off:t.end:t.end]
}

// plain returns t without escapes. It copies into the arena where there are some: call it once per string, for the sum
// of all plain strings is what fits.
func (c *Cursor) plain(t text) text {
	if t.form&formEscaped == 0 {
		return t
	}
	off := len(c.lend())
	c.arena = AppendUnquoted(c.arena, c.b[t.off:t.end])
	return text{off: uint32(off), end: uint32(len(c.arena)), form: formArena}
}

// lend returns the arena, large enough for every string of the text without its escapes.
func (c *Cursor) lend() []byte {
	if cap(c.arena) < len(c.b)+block {
		c.arena = make([]byte, 0, len(c.b)+block)
	}
	return c.arena
}
