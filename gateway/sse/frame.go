package sse

import "bytes"

// frame finds where events end. It keeps what must be known from one piece to the next.
type frame struct {
	open  bool // the line at hand has bytes already
	cr    bool // the last byte was a CR: an LF that follows belongs to it
	lines int  // lines of the event at hand that are not empty and have ended
}

// end returns the index after the event that goes on at p[i]: the first line end of an empty line. An LF that completes
// a CRLF there is left to swallow. whole is false when p ends before the event does.
func (f *frame) end(p []byte, i int, nl *newlines) (end int, whole bool) {
	for i < len(p) {
		if f.swallow(p[i]) {
			i++
			continue
		}
		e := nl.next(i)
		if e == len(p) {
			f.open = true
			return e, false
		}
		empty := e == i && !f.open
		f.open = false
		f.cr = p[e] == '\r'
		i = e + 1
		if empty {
			return i, true
		}
		f.lines++
	}
	return i, false
}

// swallow reports whether ch is the LF of a CRLF whose CR has ended the line.
func (f *frame) swallow(ch byte) bool {
	cr := f.cr
	f.cr = false
	return cr && ch == '\n'
}

// newlines looks for the line ends of p from left to right: each byte is seen at most once per kind, however often
// asked.
type newlines struct {
	p      []byte
	lf, cr int // the next of each at or after the last index asked for; -1 at first
}

func newNewlines(p []byte) newlines { return newlines{p, -1, -1} }

// next is the index of the first CR or LF at or after i, len(p) without one.
func (n *newlines) next(i int) int {
	if n.lf < i {
		n.lf = indexFrom(n.p, '\n', i)
	}
	if n.cr < i {
		n.cr = indexFrom(n.p, '\r', i)
	}
	return min(n.lf, n.cr)
}

func indexFrom(p []byte, ch byte, i int) int {
	if k := bytes.IndexByte(p[i:], ch); k >= 0 {
		return i + k
	}
	return len(p)
}
