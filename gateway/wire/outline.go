package wire

import "unsafe"

// Outline is where the members stand, all of them, of an object that was judged and not parsed.
type Outline struct {
	Text    []byte // with the object and nothing else, but for white space
	Opening int    // the offset of its brace
	Members []Place
}

// Place is where the value of a member stands: Text[Off:End].
type Place struct {
	Name     string
	Off, End int
}

// Bytes returns how much memory the Outline takes besides the text, at most.
func (o *Outline) Bytes() int {
	n := cap(o.Members) * int(unsafe.Sizeof(Place{}))
	for i := range o.Members {
		n += len(o.Members[i].Name)
	}
	return n
}

// Splice is Request.Splice for an object that has at least one member.
func (o *Outline) Splice(edits []Edit, dst [][]byte) [][]byte {
	if len(edits) == 0 {
		return append(dst, o.Text)
	}
	out := splicer{b: o.Text, dst: dst}
	var done uint
	cuts := make([]cut, 0, len(edits))
	for _, m := range o.Members {
		for i := range edits {
			if edits[i].Key == m.Name {
				cuts = append(cuts, cut{off: m.Off, end: m.End, edit: i})
				done |= 1 << i
			}
		}
	}
	out.copyTo(o.Opening + 1)
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
	out.copyTo(len(o.Text))
	return out.dst
}
