package wire

// SpliceSent is Request.Splice for a body that is an object of strict JSON, and was not parsed.
func SpliceSent(body []byte, edits []Edit, dst [][]byte) [][]byte {
	if len(edits) == 0 {
		return append(dst, body)
	}
	s := splicer{b: body, dst: dst}
	c := NewCursor(body, len(body))
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
	s.copyTo(opening)
	var pieces []byte
	for i := range edits {
		if done&(1<<i) == 0 {
			pieces = s.insert(pieces, &edits[i])
		}
	}
	for _, c := range cuts {
		s.copyTo(c.off)
		s.dst = append(s.dst, edits[c.edit].Raw)
		s.i = c.end
	}
	s.copyTo(len(body))
	return s.dst
}
