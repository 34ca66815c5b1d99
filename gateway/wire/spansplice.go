package wire

// Splice is Request.Splice for an object that was not parsed.
func (s *Spans) Splice(edits []Edit, dst [][]byte) [][]byte {
	if len(edits) == 0 {
		return append(dst, s.text)
	}
	out := splicer{b: s.text, dst: dst}
	c := s.Cursor(0, len(s.text))
	c.Enter('{')
	opening := c.Offset()
	var done uint
	cuts := make([]cut, 0, len(edits))
	for name, more := c.Key(); more; name, more = c.Key() {
		c.Peek()
		from := c.Offset()
		c.Skip()
		for i := range edits {
			if edits[i].Key == string(name) {
				cuts = append(cuts, cut{off: from, end: c.Offset(), edit: i})
				done |= 1 << i
			}
		}
	}
	out.copyTo(opening)
	var pieces []byte
	for i := range edits {
		if done&(1<<i) == 0 {
			pieces = out.insert(pieces, &edits[i])
		}
	}
	for _, c := range cuts {
		out.copyTo(c.off)
		out.dst = append(out.dst, edits[c.edit].Raw)
		out.i = c.end
	}
	out.copyTo(len(s.text))
	return out.dst
}
