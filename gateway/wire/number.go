package wire

import (
	"math"
	"strconv"
)

// number reads a number by the grammar and returns its bytes.
func (c *Cursor) number() []byte {
	b, i := c.b, c.i
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = c.digits(i); i < 0 {
		return nil
	}
	if i < len(b) && b[i] == '.' {
		if i = c.digits(i + 1); i < 0 {
			return nil
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if i = c.digits(i); i < 0 {
			return nil
		}
	}
	start := c.i
	c.i = i
	return b[start:i]
}

// digits passes one digit or more from i on; -1 after a fault.
func (c *Cursor) digits(i int) int {
	start := i
	for i < len(c.b) && c.b[i]-'0' <= 9 {
		i++
	}
	if i == start {
		c.i = i
		c.unexpected()
		return -1
	}
	return i
}

// Number reads a number and returns it as it is written; anything else is a fault.
func (c *Cursor) Number() []byte {
	c.Peek()
	return c.number()
}

// Int reads one value of any kind; ok says that it was a number written as an integer that fits.
func (c *Cursor) Int() (n int, ok bool) {
	ch := c.Peek()
	if n, i := c.fewDigits(); i > c.i {
		c.i = i
		return n, true
	}
	if ch != '-' && ch-'0' > 9 {
		c.Skip()
		return 0, false
	}
	return integer(c.number())
}

// fewDigits is the value and the end of a number that is an integer without a sign and fits whatever its digits are;
// any other ends where it begins.
func (c *Cursor) fewDigits() (n, end int) {
	i := c.i
	for ; i < len(c.b); i++ {
		ch := c.b[i]
		if ch-'0' > 9 {
			break
		}
		n = n*10 + int(ch-'0')
	}
	switch {
	case i-c.i > 1 && c.b[c.i] == '0', i-c.i > 18, i < len(c.b) && (c.b[i] == '.' || c.b[i]|0x20 == 'e'):
		return 0, c.i
	}
	return n, i
}

// integer returns the value of a JSON number that has neither fraction nor exponent.
func integer(num []byte) (n int, ok bool) {
	digits := num
	if len(num) > 0 && num[0] == '-' {
		digits = num[1:]
	}
	if len(digits) == 0 {
		return 0, false
	}
	for _, ch := range digits {
		d := int(ch - '0')
		if ch-'0' > 9 || n > (math.MaxInt-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if len(digits) < len(num) {
		n = -n
	}
	return n, true
}

// float is strconv.ParseFloat of a JSON number.
func float(num []byte) (float64, error) {
	if x, ok := shortFloat(num); ok {
		return x, nil
	}
	return strconv.ParseFloat(string(num), 64)
}

// shortFloat is the value of a number without sign and exponent that has at most 15 bytes: its digits and the power of
// ten that divides them are floats exactly, so the quotient is the nearest.
func shortFloat(num []byte) (x float64, ok bool) {
	if len(num) > 15 {
		return 0, false
	}
	digits, point := 0, len(num)-1
	for i, ch := range num {
		switch {
		case ch-'0' <= 9:
			digits = digits*10 + int(ch-'0')
		case ch == '.':
			point = i
		default:
			return 0, false
		}
	}
	return float64(digits) / tens[len(num)-1-point], true
}

var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
