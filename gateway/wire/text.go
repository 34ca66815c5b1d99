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
//
// Runs of code and prose between escapes are short, so it begins word by word; what has gone on for longRun bytes goes on
// four words at a time.
func plainRun(b []byte, i int) (int, uint64) {
	i, seen, hit := plainWords(b[:min(i+longRun, len(b))], i)
	if !hit && i+32 <= len(b) {
		var more uint64
		i, more = plainBlocks(b, i)
		seen |= more
		i, more, hit = plainWords(b, i)
		seen |= more
	}
	for ; !hit && i < len(b) && !isSpecial(b[i]); i++ {
		seen |= uint64(b[i])
	}
	return i, seen & highs
}

// plainWords passes words from i on, up to the special byte, or to where no word is left.
func plainWords(b []byte, i int) (at int, seen uint64, hit bool) {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		seen |= w
		if m := special(w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3, seen, true
		}
	}
	return i, seen, false
}

// plainBlocks passes blocks of four words that are plain, from i on, and returns where it stopped and all their bits.
func plainBlocks(b []byte, i int) (int, uint64) {
	var seen uint64
	for ; i+32 <= len(b); i += 32 {
		p := b[i : i+32 : i+32]
		w0, w1 := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		w2, w3 := binary.LittleEndian.Uint64(p[16:]), binary.LittleEndian.Uint64(p[24:])
		if (special(w0)|special(w1)|special(w2)|special(w3))&highs != 0 {
			break
		}
		seen |= w0 | w1 | w2 | w3
	}
	return i, seen
}

const longRun = 128

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
	var seen uint64
	for {
		var s uint64
		i, s = plainRun(c.b, i)
		seen |= s
		switch {
		case i == len(c.b):
			c.fail(CodeInvalidJSON, i, "unexpected end")
			return -1, false, false
		case c.b[i] == '"':
			return i, seen != 0, escaped
		case c.b[i] != '\\':
			c.fail(CodeInvalidJSON, i, "a control character in a string")
			return -1, false, false
		}
		n := c.escape(i)
		if n == 0 {
			return -1, false, false
		}
		escaped = true
		i += n
	}
}

// escape judges the escape at i and returns its length, a surrogate pair being one; 0 after a fault.
func (c *Cursor) escape(i int) int {
	if i+1 < len(c.b) {
		switch c.b[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return 2
		case 'u':
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
	if cap(c.arena) < len(c.b) {
		c.arena = make([]byte, 0, len(c.b))
	}
	return c.arena
}
