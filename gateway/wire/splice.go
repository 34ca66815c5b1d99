package wire

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Edit sets one top-level member of a body.
type Edit struct {
	Key string
	Raw []byte // the new value, as JSON
}

// cut is one edit in its place: it replaces b[off:end]. An inserted member carries its name.
type cut struct {
	off, end int
	edit     int // which
	insert   bool
}

// Splice appends to dst the body with the edits made, as segments in order: parts of the body as they are, the Raw of
// each edit, and small pieces that live until the next Parse or Reset. A member that is there gets the new value in its
// place; one that is not is inserted in front. Raw must be JSON, and a key UTF-8 and given once: anything else is an
// error, and dst is returned as it was. Without edits the one segment is the body.
func (r *Request) Splice(edits []Edit, dst [][]byte) ([][]byte, error) {
	s := splicer{b: r.p.b, dst: dst}
	var space [4]cut
	cuts := space[:0]
	for i := range edits {
		c, err := r.cutFor(edits, i)
		if err != nil {
			return dst, err
		}
		cuts = append(cuts, c)
		for k := i; k > 0 && cuts[k-1].off > cuts[k].off; k-- {
			cuts[k-1], cuts[k] = cuts[k], cuts[k-1]
		}
	}
	for _, c := range cuts {
		s.copyTo(c.off)
		if c.insert {
			r.pieces = s.insert(r.pieces, &edits[c.edit])
		} else {
			s.dst = append(s.dst, edits[c.edit].Raw)
		}
		s.i = c.end
	}
	s.copyTo(len(s.b))
	return s.dst, nil
}

// cutFor finds the place of edit i, which none before it may have.
func (r *Request) cutFor(edits []Edit, i int) (cut, error) {
	e := &edits[i]
	for k := range edits[:i] {
		if edits[k].Key == e.Key {
			return cut{}, fmt.Errorf("wire: %q is edited twice", e.Key)
		}
	}
	if err := r.checkRaw(e); err != nil {
		return cut{}, err
	}
	if m := r.member(e.Key); m != nil {
		return cut{off: int(m.off), end: int(m.end), edit: i}, nil
	}
	if !utf8.ValidString(e.Key) {
		return cut{}, fmt.Errorf("wire: %q is not UTF-8", e.Key)
	}
	return cut{off: r.opening + 1, end: r.opening + 1, edit: i, insert: true}, nil
}

func (r *Request) checkRaw(e *Edit) error {
	r.p.names.reset()
	c := Cursor{keys: &r.p.names}
	c.start(e.Raw, maxEditDepth)
	if c.Skip(); !c.End() {
		return fmt.Errorf("wire: the value for %q is not JSON", e.Key)
	}
	return nil
}

// maxEditDepth bounds the values that are spliced in, which engines and the gateway wrote.
const maxEditDepth = 64

type splicer struct {
	b   []byte
	i   int // b[:i] is done
	dst [][]byte
}

func (s *splicer) copyTo(end int) {
	if end > s.i {
		s.dst = append(s.dst, s.b[s.i:end:end])
	}
	s.i = end
}

// insert adds a whole member and the comma after it: an accepted body holds its messages or prompt at least.
func (s *splicer) insert(pieces []byte, e *Edit) []byte {
	start := len(pieces)
	pieces = AppendQuoted(pieces, e.Key)
	pieces = append(pieces, ':')
	s.dst = append(s.dst, pieces[start:len(pieces):len(pieces)], e.Raw, comma)
	return pieces
}

var comma = []byte{','}

// RunningUsage is the edit that makes an engine report usage in every event of a stream and at its end; false where the
// body asks for that already. Other stream options stay as they are.
func (r *Request) RunningUsage() (Edit, bool) {
	if r.StreamOptions.IncludeUsage && r.StreamOptions.ContinuousUsage {
		return Edit{}, false
	}
	return r.streamOptions(`{"include_usage":true,"continuous_usage_stats":true`), true
}

// FinalUsage is RunningUsage for the end of the stream alone.
func (r *Request) FinalUsage() (Edit, bool) {
	if r.StreamOptions.IncludeUsage {
		return Edit{}, false
	}
	return r.streamOptions(`{"include_usage":true`), true
}

// streamOptions is the edit that sets stream_options: those asked for, which is an object without its end, and of the
// body's own what says nothing of usage.
func (r *Request) streamOptions(asked string) Edit {
	const key = "stream_options"
	raw := []byte(asked)
	if options := r.Raw(key); len(options) > 0 && options[0] == '{' {
		c := NewCursor(options, maxEditDepth)
		c.Enter('{')
		for name, ok := c.Key(); ok; name, ok = c.Key() {
			if asked := string(name) == "include_usage" || string(name) == "continuous_usage_stats"; !asked {
				raw = append(append(AppendQuoted(append(raw, ','), name), ':'), bytes.TrimSpace(c.skipped())...)
				continue
			}
			c.Skip()
		}
	}
	return Edit{key, append(raw, '}')}
}

// skipped reads one value and returns it as it stands.
func (c *Cursor) skipped() []byte {
	from := c.i
	c.Skip()
	return c.b[from:c.i]
}
