package sse

import "slices"

// edit replaces b[from:to] of an event or a piece.
type edit struct {
	from, to int
	with     string
}

// edited is what of a piece is given out where not all of it is: what was kept so far, in memory of its own.
type edited struct {
	buf  []byte
	from int  // the piece is kept from here on
	used bool // there was an edit
}

// begin forgets the piece before and keeps the next from i on.
func (e *edited) begin(i int) {
	if cap(e.buf) > keepCarry {
		e.buf = nil
	}
	e.buf, e.from, e.used = e.buf[:0], i, false
}

// replace gives with in place of p[from:to]; what was before it since the last edit is kept.
func (e *edited) replace(p []byte, from, to int, with string) {
	e.buf = append(append(e.buf, p[e.from:from]...), with...)
	e.from, e.used = to, true
}

// apply makes the edits of the event that begins at p[at].
func (e *edited) apply(p []byte, at int, edits []edit) {
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	for _, x := range edits {
		e.replace(p, at+x.from, at+x.to, x.with)
	}
}

// upTo returns what is given out of p[start:end].
func (e *edited) upTo(p []byte, start, end int) []byte {
	if !e.used {
		return p[start:end:end]
	}
	if e.from < end {
		e.buf = append(e.buf, p[e.from:end]...)
	}
	return e.buf[:len(e.buf):len(e.buf)]
}
