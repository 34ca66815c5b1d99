package sse

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"octet/gateway/wire"
)

// reader reads one JSON object of an engine from left to right. It takes and refuses what a Cursor of wire.NewCursor does, in a
// quarter of the instructions: an engine's words are short strings and numbers, and what is neither is left to a Cursor. The first
// fault sticks, and every later call sees the end of the text.
//
//	for r.enter(); r.key(); {
//		switch string(r.name) { … } // each case reads or skips one value
//	}
type reader struct {
	b     []byte
	i     int    // the next byte to read; len(b) after a fault
	room  int    // containers that may still be opened
	fresh bool   // nothing of the innermost container has been read
	bad   bool   // there was a fault
	name  []byte // of the member that key has moved to, unescaped
}

func (r *reader) fail() { r.bad, r.fresh, r.i = true, false, len(r.b) }

// end reports whether the text was read to its end without a fault.
func (r *reader) end() bool { return r.peek() == 0 && r.i == len(r.b) && !r.bad }

// peek skips white space and returns the first byte of what comes next, 0 at the end of the text.
func (r *reader) peek() byte {
	if r.i < len(r.b) && r.b[r.i] > ' ' {
		return r.b[r.i]
	}
	return r.peekPastSpace()
}

func (r *reader) peekPastSpace() byte {
	for ; r.i < len(r.b); r.i++ {
		switch ch := r.b[r.i]; ch {
		case ' ', '\t', '\n', '\r':
		default:
			return ch
		}
	}
	return 0
}

// enter opens the container whose first byte peek has returned, to be read to its end with key or more.
func (r *reader) enter() {
	if r.room == 0 {
		r.fail()
		return
	}
	r.room--
	r.i++
	r.fresh = true
}

func (r *reader) leave() {
	r.room++
	r.i++
	r.fresh = false
}

// more moves to the next element of the open array, false at its end.
func (r *reader) more() bool {
	switch ch := r.peek(); {
	case ch == ']':
		r.leave()
		return false
	case r.fresh:
		r.fresh = false
		return true
	case ch == ',':
		r.i++
		return true
	}
	r.fail()
	return false
}

// key moves to the value of the open object's next member, whose name is in name then; false at the object's end.
func (r *reader) key() bool {
	switch ch := r.peek(); {
	case ch == '}':
		r.leave()
		return false
	case r.fresh:
		r.fresh = false
	case ch == ',':
		r.i++
	default:
		r.fail()
	}
	if r.peek() != '"' {
		r.fail()
		return false
	}
	if end := closing(r.b, r.i+1); end > 0 {
		r.name, r.i = r.b[r.i+1:end], end+1
	} else {
		r.name = plainName(r.hardText())
	}
	if r.peek() != ':' {
		r.fail()
		return false
	}
	r.i++
	return true
}

// skip reads one value of any kind.
func (r *reader) skip() {
	switch r.peek() {
	case '"':
		r.text()
	case '{':
		for r.enter(); r.key(); {
			r.skip()
		}
	case '[':
		for r.enter(); r.more(); {
			r.skip()
		}
	case 't':
		r.word("true")
	case 'f':
		r.word("false")
	case 'n':
		r.word("null")
	default:
		r.number()
	}
}

func (r *reader) word(w string) {
	if len(r.b)-r.i < len(w) || string(r.b[r.i:r.i+len(w)]) != w {
		r.fail()
		return
	}
	r.i += len(w)
}

// text reads the string that begins at i and returns what stands between its quotes, escapes as they are.
func (r *reader) text() []byte {
	start := r.i + 1
	if end := closing(r.b, start); end > 0 {
		r.i = end + 1
		return r.b[start:end]
	}
	return r.hardText()
}

// longest is how far the end of a string is looked for here, in bytes.
const longest = 64

// closing returns where the quote is that ends the string whose inside begins at i; 0 where that is not easily told: of a long
// string, of one with escapes, near the end of b, and where something is wrong.
func closing(b []byte, i int) int {
	b = b[:min(len(b), i+longest)]
	for ; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i : i+8])); m != 0 {
			if i += bits.TrailingZeros64(m) >> 3; i < len(b) && b[i] == '"' {
				return i
			}
			break
		}
	}
	return 0
}

// special sets the high bit of the first byte of w that is a quote, a backslash or a control character; of none where there is
// none. Bytes above that one may be marked without being either.
func special(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := w ^ 2*ones // below '!' are the quote, which has changed places with the space, and what was below that
	slash := w ^ '\\'*ones
	return ((low-'!'*ones)&^low | (slash-ones)&^slash) & highs
}

// hardText is text for any string. Within an object none ends with the text, where a fault ends.
func (r *reader) hardText() []byte {
	c := wire.NewCursor(r.b[r.i:], 0)
	raw := c.Quoted()
	if r.i += c.Offset(); r.i == len(r.b) {
		r.fail()
		return nil
	}
	return raw
}

// quoted reads a value and returns the inside of a string, nil for anything else.
func (r *reader) quoted() []byte {
	if r.peek() != '"' {
		r.skip()
		return nil
	}
	return r.text()
}

// integer reads a value of any kind; ok says that it was a number written as an integer that fits.
func (r *reader) integer() (n int, ok bool) {
	if ch := r.peek(); ch != '-' && ch-'0' > 9 {
		r.skip()
		return 0, false
	}
	return r.number()
}

// mostDigits is how many digits any int has room for.
const mostDigits = 18

// number reads a number by the grammar; ok says that it is written as an integer and fits.
func (r *reader) number() (n int, ok bool) {
	b, i := r.b, r.i
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + int(b[i]-'0')
		i++
	}
	digits := i - r.i
	if digits == 0 || digits > mostDigits || digits > 1 && b[r.i] == '0' || i == len(b) || b[i] == '.' || b[i]|0x20 == 'e' {
		return r.hardNumber()
	}
	r.i = i
	return n, true
}

// hardNumber is number for any number. Within an object none ends with the text, where a fault ends.
func (r *reader) hardNumber() (n int, ok bool) {
	c := wire.NewCursor(r.b[r.i:], 0)
	n, ok = c.Int()
	if r.i += c.Offset(); r.i == len(r.b) {
		r.fail()
	}
	return n, ok
}

// plainName is a member's name without its escapes.
func plainName(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return wire.AppendUnquoted(nil, raw)
}
