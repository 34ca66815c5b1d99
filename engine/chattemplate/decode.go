package chattemplate

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// maxDepth bounds how deep values may nest.
const maxDepth = 64

// decoder reads JSON as a template sees it: objects keep their order, the last of members of one name counts, and a
// number that is whole is an int. What it makes is of a store, and aliases the JSON.
type decoder struct {
	*store
	src []byte
	at  int
}

// decode reads one value, behind which there is nothing.
func (s *store) decode(raw []byte) (v any, err error) {
	defer catch(&err)
	if !utf8.Valid(raw) {
		throw(ErrRefused, "JSON that is not UTF-8")
	}
	d := decoder{store: s, src: raw}
	v = d.value(0)
	if d.peek() != 0 || d.at < len(raw) {
		d.fail()
	}
	return v, nil
}

func (d *decoder) fail() { throw(ErrRefused, "no JSON at byte %d", d.at) }

// peek passes white space and returns the byte behind it, 0 at the end.
func (d *decoder) peek() byte {
	for ; d.at < len(d.src); d.at++ {
		switch c := d.src[d.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take passes c, which must come next.
func (d *decoder) take(c byte) {
	if d.peek() != c || d.at == len(d.src) {
		d.fail()
	}
	d.at++
}

func (d *decoder) value(depth int) any {
	if depth > maxDepth {
		throw(ErrTooLarge, "JSON nests more than %d deep", maxDepth)
	}
	switch d.peek() {
	case '"':
		return boxed(d.text())
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case 'n':
		d.word("null")
		return nil
	case 't':
		d.word("true")
		return true
	case 'f':
		d.word("false")
		return false
	}
	return d.number()
}

func (d *decoder) word(w string) {
	if len(d.src)-d.at < len(w) || string(d.src[d.at:d.at+len(w)]) != w {
		d.fail()
	}
	d.at += len(w)
}

// number reads -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?.
func (d *decoder) number() any {
	from := d.at
	d.skip("-")
	if !d.skip("0") {
		d.digits()
	}
	whole := true
	if d.skip(".") {
		d.digits()
		whole = false
	}
	if d.skip("eE") {
		d.skip("+-")
		d.digits()
		whole = false
	}
	s := string(d.src[from:d.at])
	if whole && s != "-0" {
		if i, err := strconv.Atoi(s); err == nil {
			return i
		}
	}
	f, _ := strconv.ParseFloat(s, 64) // beyond its range it is infinite
	return f
}

// skip passes one byte if it is any of a few.
func (d *decoder) skip(set string) bool {
	if d.at == len(d.src) {
		return false
	}
	for i := range len(set) {
		if d.src[d.at] == set[i] {
			d.at++
			return true
		}
	}
	return false
}

func (d *decoder) digits() {
	from := d.at
	for d.at < len(d.src) && '0' <= d.src[d.at] && d.src[d.at] <= '9' {
		d.at++
	}
	if d.at == from {
		d.fail()
	}
}

func (d *decoder) array(depth int) any {
	d.at++
	from := len(d.stack)
	if d.peek() == ']' {
		d.at++
		return d.list(from)
	}
	for {
		d.stack = append(d.stack, d.value(depth+1))
		if d.peek() == ']' {
			d.at++
			return d.list(from)
		}
		d.take(',')
	}
}

func (d *decoder) object(depth int) any {
	d.at++
	from, names := len(d.stack), len(d.names)
	if d.peek() == '}' {
		d.at++
		return d.dict(from, names)
	}
	for {
		if d.peek() != '"' {
			d.fail()
		}
		d.names = append(d.names, d.text())
		d.take(':')
		d.stack = append(d.stack, d.value(depth+1))
		if d.peek() == '}' {
			d.at++
			return d.dict(from, names)
		}
		d.take(',')
	}
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainEnd returns the first place at or after from of a '"', a '\' or a control character.
func plainEnd(src []byte, from int) int {
	for ; from+8 <= len(src); from += 8 {
		x := binary.LittleEndian.Uint64(src[from:])
		quote, slash := x^lows*'"', x^lows*'\\'
		if found := ((quote-lows)&^quote | (slash-lows)&^slash | (x-lows*' ')&^x) & highs; found != 0 {
			return from + bits.TrailingZeros64(found)>>3
		}
	}
	for from < len(src) && src[from] != '"' && src[from] != '\\' && src[from] >= ' ' {
		from++
	}
	return from
}

// text reads a string, which begins here. Without escapes it is where it was.
func (d *decoder) text() string {
	from := d.at + 1
	d.at = plainEnd(d.src, from)
	if d.at < len(d.src) && d.src[d.at] == '"' {
		d.at++
		return view(d.src[from : d.at-1])
	}
	out := d.room(len(d.src) - from)
	start := len(out)
	for out = append(out, d.src[from:d.at]...); d.at < len(d.src); {
		switch d.src[d.at] {
		case '"':
			d.at++
			d.texts = out
			return view(out[start:])
		case '\\':
			out = d.escape(out)
		default:
			d.fail()
		}
		from = d.at
		d.at = plainEnd(d.src, from)
		out = append(out, d.src[from:d.at]...)
	}
	d.fail()
	return ""
}

// escapes are what one letter behind a backslash stands for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends what the escape here stands for.
func (d *decoder) escape(out []byte) []byte {
	if d.at+1 == len(d.src) {
		d.fail()
	}
	c := d.src[d.at+1]
	if plain := escapes[c]; plain != 0 {
		d.at += 2
		return append(out, plain)
	}
	r := d.unit()
	if r>>11 == 0xD800>>11 {
		if r >= 0xDC00 || d.at == len(d.src) || d.src[d.at] != '\\' {
			d.fail()
		}
		low := d.unit()
		if low>>10 != 0xDC00>>10 {
			d.fail()
		}
		r = 0x10000 + (r-0xD800)<<10 + low - 0xDC00
	}
	return utf8.AppendRune(out, rune(r))
}

// unit reads \u and four digits.
func (d *decoder) unit() uint64 {
	if len(d.src)-d.at < 6 || d.src[d.at+1] != 'u' {
		d.fail()
	}
	r, err := strconv.ParseUint(view(d.src[d.at+2:d.at+6]), 16, 32)
	if err != nil {
		d.fail()
	}
	d.at += 6
	return r
}

// view is b as a string, for as long as b stays as it is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
