package wire

import (
	"fmt"
	"math"
	"slices"
)

// The readers here take a value of any type to its end, refuse a wrong one by the path, and let null stand for absent
// where their name does not say otherwise.

const maxInt = math.MaxInt32

// interval holds lo to hi; open leaves lo itself out.
type interval struct {
	lo, hi float64
	open   bool
}

func (v interval) holds(x float64) bool { return x >= v.lo && x <= v.hi && (x != v.lo || !v.open) }

func (v interval) String() string {
	if v.open {
		return fmt.Sprintf("must be a number above %g, up to %g", v.lo, v.hi)
	}
	return fmt.Sprintf("must be a number from %g to %g", v.lo, v.hi)
}

func (p *parser) boolean(dst *bool) {
	switch p.Peek() {
	case 't':
		p.word("true")
		*dst = true
	case 'f':
		p.word("false")
	case 'n':
		p.Null()
	default:
		p.refuse(CodeInvalidValue, "must be a boolean")
		p.Skip()
	}
}

func (p *parser) integer(lo, hi int, dst *int) {
	if p.Null() {
		return
	}
	at := p.i
	n, ok := p.Int()
	if !ok || n < lo || n > hi {
		p.refuseAt(at, CodeInvalidValue, fmt.Sprintf("must be an integer from %d to %d", lo, hi))
		return
	}
	*dst = n
}

// count sets more when an integer over zero is given.
func (p *parser) count(more *bool) {
	n := 0
	p.integer(0, maxInt, &n)
	*more = *more || n > 0
}

func (p *parser) float(v interval, dst *Number) {
	if p.Null() {
		return
	}
	at := p.i
	if ch := p.Peek(); ch != '-' && ch-'0' > 9 {
		p.refuse(CodeInvalidValue, v.String())
		p.Skip()
		return
	}
	x, err := float(p.number())
	if err != nil || !v.holds(x) {
		p.refuseAt(at, CodeInvalidValue, v.String())
		return
	}
	*dst = Number{x, true}
}

// present sets seen for any value but null and false.
func (p *parser) present(seen *bool) {
	ch := p.Peek()
	p.Skip()
	*seen = *seen || ch != 'n' && ch != 'f'
}

// string reads a string, false for null and for what is refused.
func (p *parser) string(dst *text) bool { return !p.Null() && p.requiredString(dst) }

// requiredString is string without null.
func (p *parser) requiredString(dst *text) bool {
	if p.Peek() != '"' {
		p.refuse(CodeInvalidValue, "must be a string")
		p.Skip()
		return false
	}
	*dst = p.text()
	return true
}

// typed skips a value that must begin with first.
func (p *parser) typed(first byte, message string) {
	if p.Peek() != first {
		p.refuse(CodeInvalidValue, message)
	}
	p.Skip()
}

// object opens an object, false when something else was there and is skipped.
func (p *parser) object(message string) bool {
	if p.Peek() == '{' {
		return p.Enter('{')
	}
	p.refuse(CodeInvalidValue, message)
	p.Skip()
	return false
}

// strings appends an array of strings to dst, without the empty ones.
func (p *parser) strings(dst *[]text) {
	if p.Null() {
		return
	}
	if p.Peek() != '[' {
		p.refuse(CodeInvalidValue, "must be an array of strings")
		p.Skip()
		return
	}
	p.Enter('[')
	for i := 0; p.More(); i++ {
		if i >= p.lim.Messages {
			p.excess(i, p.lim.Messages, "entries")
			continue
		}
		p.index(i)
		var t text
		if p.requiredString(&t) && t.off < t.end {
			if n := len(*dst); n == cap(*dst) {
				*dst = slices.Grow(*dst, max(4, n)) // doubling: short texts alone stay a small multiple
			}
			*dst = append(*dst, t)
		}
		p.up()
	}
}

// excess skips element i, which is beyond the limit, and refuses the first of such.
func (p *parser) excess(i, most int, what string) {
	if i == most {
		p.refuse(CodeInvalidValue, fmt.Sprintf("has more than %d %s", most, what))
	}
	p.Skip()
}
