package calibration

// editDistance returns the Levenshtein distance of a and b over the length of the longer one: 0 is the same, 1 nothing
// in common. Two empty ones are the same.
//
// The columns of the table are computed 64 rows at a time as words of bits (Myers 1999, in Hyyrö's form for the
// distance of whole sequences): O(len(a) × len(b) / 64).
func editDistance(a, b []uint64) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b) == 0 {
		return 0
	}
	if len(a) == 0 {
		return 1
	}
	return float64(newColumn(a).distance(b)) / float64(len(b))
}

// column is one column of the table, as differences between neighbouring rows: bit i of plus is set where row i+1 is
// one more than row i, bit i of minus where it is one less.
type column struct {
	rows        int
	at          map[uint64][]uint64 // token → the rows where the pattern has it
	none        []uint64
	plus, minus []uint64
	last        uint64 // the bit of the last row in the last word
}

func newColumn(pattern []uint64) *column {
	n := (len(pattern) + 63) / 64
	c := &column{
		rows: len(pattern), at: make(map[uint64][]uint64), none: make([]uint64, n), plus: make([]uint64, n),
		minus: make([]uint64, n),
		last:  1 << ((len(pattern) - 1) % 64),
	}
	for i, token := range pattern {
		if c.at[token] == nil {
			c.at[token] = make([]uint64, n)
		}
		c.at[token][i/64] |= 1 << (i % 64)
	}
	for i := range c.plus {
		c.plus[i] = ^uint64(0)
	}
	return c
}

// distance plays text against the pattern.
func (c *column) distance(text []uint64) int {
	d := c.rows
	for _, token := range text {
		match := c.at[token]
		if match == nil {
			match = c.none
		}
		d += c.advance(match)
	}
	return d
}

// advance moves to the next column and returns by how much its last row differs from the present one's.
func (c *column) advance(match []uint64) (change int) {
	in := 1 // the first row grows by one with each column
	for w := range match {
		at := uint64(1) << 63
		if w == len(match)-1 {
			at = c.last
		}
		in = c.word(w, match[w], in, at)
	}
	return in
}

// word advances 64 rows: in is the change of the row above them, the answer that of the row at bit at.
func (c *column) word(w int, match uint64, in int, at uint64) (out int) {
	plus, minus := c.plus[w], c.minus[w]
	vertical := match | minus
	if in < 0 {
		match |= 1
	}
	diagonal := ((match & plus) + plus) ^ plus | match
	up := minus | ^(diagonal | plus)
	down := plus & diagonal
	switch {
	case up&at != 0:
		out = 1
	case down&at != 0:
		out = -1
	}
	up, down = up<<1, down<<1
	switch {
	case in > 0:
		up |= 1
	case in < 0:
		down |= 1
	}
	c.plus[w], c.minus[w] = down|^(vertical|up), up&vertical
	return out
}
