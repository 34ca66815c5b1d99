package sse

import "octet/gateway/wire"

// outline is the JSON of an answer that was walked, around the strings and numbers in it that another answer may have
// otherwise. An answer with the same bytes around other strings and numbers says the same of its own.
type outline struct {
	fixed string // the literal bytes around the holes, contiguous because they are usually cold
	holes []hole
}

// hole is where a string or a number stands. A string is not empty: one that is counts for less, see chunk.
type hole struct {
	before uint16 // bytes between it and the one before
	text   bool   // a string
	holder holder
}

// holder is what a value is to the walk.
type holder uint8

const (
	holdsNothing holder = iota
	holdsText
	holdsFinish
	holdsPrompt
	holdsCompletion
	holdsCached
	holdings = iota
)

// What is beyond these is walked every time, in bytes and values.
const (
	mostFixed = 4 << 10
	mostHoles = 32
)

// outlineOf returns the outline of body, which k has walked and which is no error; nil where it would be too large.
func outlineOf(body []byte, k *chunk) *outline {
	l := learner{Cursor: wire.NewCursor(body, maxDepth), body: body, ends: &k.ends}
	l.value("")
	l.fixed = append(l.fixed, body[l.kept:]...)
	if len(l.fixed) > mostFixed || len(l.holes) > mostHoles {
		return nil
	}
	return &outline{string(l.fixed), l.holes}
}

// learner walks an answer for its outline.
type learner struct {
	wire.Cursor
	body  []byte
	ends  *[holdings]int
	holes []hole
	kept  int    // where what comes before the next hole begins
	fixed []byte // what is around holes
}

// value reads one value, of a member of this name or of an array.
func (l *learner) value(name string) {
	switch ch := l.Peek(); {
	case ch == '{':
		l.Enter('{')
		for name, ok := l.Key(); ok; name, ok = l.Key() {
			l.value(string(name))
		}
	case ch == '[':
		for l.Enter('['); l.More(); {
			l.value("")
		}
	case ch == '"' && !decides(name):
		at := l.Offset()
		if raw := l.Quoted(); len(raw) > 0 {
			l.hole(at, true)
		}
	case (ch == '-' || ch-'0' <= 9) && !decides(name):
		at := l.Offset()
		l.Number()
		l.hole(at, false)
	default:
		l.Skip()
	}
}

// decides says whether an answer may mean something else when a member of this name has another value; and it is so of
// what is always the same, which is compared faster than read.
func decides(name string) bool {
	switch name {
	case "object", "error", "index", "role", "type":
		return true
	}
	return false
}

// hole makes one of what begins at at and was just read.
func (l *learner) hole(at int, text bool) {
	if len(l.fixed) <= mostFixed && len(l.holes) <= mostHoles {
		l.fixed = append(l.fixed, l.body[l.kept:at]...)
		l.holes = append(l.holes, hole{uint16(at - l.kept), text, l.holder()})
	}
	l.kept = l.Offset()
}

// holder is whose value was just read.
func (l *learner) holder() holder {
	for h, end := range l.ends {
		if end == l.Offset() {
			return holder(h)
		}
	}
	return holdsNothing
}

// match reads body into u if it has the outline; u is undefined if not.
func (o *outline) match(body []byte, u *Unary) bool {
	*u = Unary{}
	fixed := o.fixed
	for i := range o.holes {
		h := &o.holes[i]
		n := int(h.before)
		if len(body) < n || string(body[:n]) != fixed[:n] {
			return false
		}
		body, fixed = body[n:], fixed[n:]
		if n = u.fill(h, body); n == 0 {
			return false
		}
		body = body[n:]
	}
	return string(body) == fixed
}

// fill takes what is in a hole, with which b begins, and returns its length; 0 where it is not what belongs there.
func (u *Unary) fill(h *hole, b []byte) int {
	if !h.text {
		n, whole, size := number(b)
		u.number(h.holder, n, whole)
		return size
	}
	size := text(b)
	if size <= len(`""`) {
		return 0
	}
	if h.holder != holdsNothing {
		u.string(h.holder, b[1:size-1])
	}
	return size
}

func (u *Unary) string(h holder, raw []byte) {
	switch h {
	case holdsText:
		u.Text = raw
	case holdsFinish:
		u.Finish = finishName(raw)
	default: // a number, or nothing that is kept
	}
}

func (u *Unary) number(h holder, n int, whole bool) {
	switch h {
	case holdsPrompt:
		u.Usage.PromptTokens = n
	case holdsCompletion:
		u.Usage.CompletionTokens = n
	case holdsCached:
		u.Usage.CachedTokens, u.Usage.CachedKnown = n, whole
	default: // a text, or nothing that is kept
	}
}
