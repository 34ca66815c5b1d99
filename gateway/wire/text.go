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
	formRaw     form = iota // in the body, and plain as it stands
	formEscaped             // in the body, with escapes
	formArena               // in the cursor's arena, plain
)

// Bytes of a word, for the tests of plainRun.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainRun returns the index of the first quote, backslash or control character of b at or after i, len(b) without one,
// and a word that has a high bit set if a byte over 0x7F was passed (it may also tell of up to seven bytes beyond the run).
func plainRun(b []byte, i int) (int, uint64) {
	var seen uint64
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		seen |= w
		if m := special(w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3, seen & highs
		}
	}
	for ; i < len(b) && !isSpecial(b[i]); i++ {
		seen |= uint64(b[i])
	}
	return i, seen & highs
}

// special sets the high bit of every byte of w that ends a plain run. It is exact up to the first such byte, and tells
// exactly whether there is one: a borrow can only reach bytes above a hit (Mycroft's zero-byte test).
func special(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return (w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash
}

func isSpecial(ch byte) bool { return ch == '"' || ch == '\\' || ch < ' ' }

// text reads the string at c.i, which must be on its opening quote.
func (c *Cursor) text() text {
	if c.i >= len(c.b) || c.b[c.i] != '"' {
		c.unexpected()
		return text{}
	}
	start := c.i + 1
	end, high, escaped := c.body(start)
	if end < 0 {
		return text{}
	}
	if high && !c.lax && !utf8.Valid(c.b[start:end]) {
		c.fail(CodeInvalidUTF8, start, "a string is not valid UTF-8")
		return text{}
	}
	c.i = end + 1
	t := text{off: uint32(start), end: uint32(end)}
	if escaped {
		t.form = formEscaped
	}
	return t
}

// body finds the closing quote of the string whose first byte is at i; -1 after a fault.
func (c *Cursor) body(i int) (end int, high, escaped bool) {
	var s stretch
	i = c.words(i, min(i+shortRun, len(c.b)), &s)
	if !s.over {
		i = c.blocks(i, &s)
	}
	if !s.over {
		i = c.words(i, len(c.b), &s)
	}
	switch {
	case s.bad:
		return -1, false, false
	case i >= len(c.b):
		c.fail(CodeInvalidJSON, len(c.b), "unexpected end")
		return -1, false, false
	case c.b[i] != '"':
		c.fail(CodeInvalidJSON, i, "a control character in a string")
		return -1, false, false
	}
	return i, s.seen != 0, s.escaped
}

// stretch is what a part of a string is made of.
type stretch struct {
	seen    uint64 // has a high bit set if a byte over 0x7F was passed, or stands close behind
	escaped bool
	over    bool // what comes next is neither plain nor a good escape
	bad     bool // it is a bad escape, which is noted
}

// words passes plain bytes and escapes from i on, to end or an escape further, and returns where it stopped.
func (c *Cursor) words(i, end int, s *stretch) int {
	for i < end {
		at, high := plainRun(c.b[:end], i)
		s.seen |= high
		if i = at; i == end {
			return i
		}
		n := c.special(i, s)
		if n == 0 {
			return i
		}
		i += n
	}
	return i
}

// blocks is words up to where no whole block is left.
func (c *Cursor) blocks(i int, s *stretch) int {
	var masks [batch]uint64
	next := i // bytes before it are passed
	for n := 1; len(c.b)-i >= block; n = min(2*n, batch) {
		n = min(n, (len(c.b)-i)/block)
		s.seen |= marks(c.b[i:], n, &masks)
		for k, m := range masks[:n] {
			base := i + k*block
			for m = from(m, max(next-base, 0)); m != 0; m = from(m, next-base) {
				at := base + bits.TrailingZeros64(m)
				if c.b[at] == '\\' && at+1 < len(c.b) && escapes[c.b[at+1]] != 0 {
					s.escaped, next = true, at+2
					continue
				}
				n := c.special(at, s)
				if n == 0 {
					return at
				}
				next = at + n
			}
		}
		i += n * block
	}
	return max(i, next)
}

// special returns the length of what is at i and not plain, a good escape; 0 where the stretch is over.
func (c *Cursor) special(i int, s *stretch) int {
	if c.b[i] != '\\' {
		s.over = true
		return 0
	}
	n := c.escape(i)
	s.escaped, s.over, s.bad = true, n == 0, n == 0
	return n
}

// escape judges the escape at i and returns its length, a surrogate pair being one; 0 after a fault.
func (c *Cursor) escape(i int) int {
	if i+1 < len(c.b) {
		switch ch := c.b[i+1]; {
		case escapes[ch] != 0:
			return 2
		case ch == 'u':
			return c.unicodeEscape(i)
		}
	}
	c.fail(CodeInvalidJSON, i, "a bad escape in a string")
	return 0
}

func (c *Cursor) unicodeEscape(i int) int {
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
	if t.form != formEscaped {
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
