package wire

import "math"

// number reads a number by the grammar and returns its bytes.
func (c *Cursor) number() []byte {
	start := c.i
	if c.at('-') {
		c.i++
	}
	if c.at('0') {
		c.i++
	} else {
		c.digits()
	}
	if c.at('.') {
		c.i++
		c.digits()
	}
	if c.at('e') || c.at('E') {
		c.i++
		if c.at('+') || c.at('-') {
			c.i++
		}
		c.digits()
	}
	if c.fault.code != "" {
		return nil
	}
	return c.b[start:c.i]
}

func (c *Cursor) at(ch byte) bool { return c.i < len(c.b) && c.b[c.i] == ch }

// digits reads one digit or more.
func (c *Cursor) digits() {
	start := c.i
	for c.i < len(c.b) && c.b[c.i]-'0' <= 9 {
		c.i++
	}
	if c.i == start {
		c.unexpected()
	}
}

// Number reads a number and returns it as it is written; anything else is a fault.
func (c *Cursor) Number() []byte {
	c.Peek()
	return c.number()
}

// Int reads one value of any kind; ok says that it was a number written as an integer that fits.
func (c *Cursor) Int() (n int, ok bool) {
	if ch := c.Peek(); ch != '-' && ch-'0' > 9 {
		c.Skip()
		return 0, false
	}
	return integer(c.number())
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
