package sse

import "octet/gateway/wire"

// outline is the JSON of an answer that was walked, around the strings and numbers in it that another answer may have otherwise. An
// answer with the same bytes around other strings and numbers says the same of its own.
type outline struct {
	holes []hole
	rest  string // what comes after the last
}

// hole is where a string or a number stands. A string is not empty: one that is counts for less, see chunk.
type hole struct {
	before string // what comes between it and the one before
	text   bool   // a string, of which the quotes are fixed
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
	l.fixed += len(body) - l.kept
	if l.fixed > mostFixed || len(l.holes) > mostHoles {
		return nil
	}
	return &outline{l.holes, string(body[l.kept:])}
}

// learner walks an answer for its outline.
type learner struct {
	wire.Cursor
	body  []byte
	ends  *[holdings]int
	holes []hole
	kept  int // where what comes before the next hole begins
	fixed int // bytes around holes
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
		at := l.Offset() + 1
		if raw := l.Quoted(); len(raw) > 0 {
			l.hole(at, at+len(raw), true)
		}
	case (ch == '-' || ch-'0' <= 9) && !decides(name):
		at := l.Offset()
		l.Number()
		l.hole(at, l.Offset(), false)
	default:
		l.Skip()
	}
}

// decides says whether an answer may mean something else when a member of this name has another value; and it is so of what is
// always the same, which is compared faster than read.
func decides(name string) bool {
	switch name {
	case "object", "error", "index", "role", "type":
		return true
	}
	return false
}

// hole makes one of what stands from at to end, and has been read.
func (l *learner) hole(at, end int, text bool) {
	l.fixed += at - l.kept
	if l.fixed <= mostFixed && len(l.holes) <= mostHoles {
		l.holes = append(l.holes, hole{string(l.body[l.kept:at]), text, l.holder()})
	}
	l.kept = end
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
	i := 0
	for n := range o.holes {
		h := &o.holes[n]
		if i = after(body, i, h.before); i == 0 {
			return false
		}
		end := u.fill(h, body, i)
		if end <= i {
			return false
		}
		i = end
	}
	return after(body, i, o.rest) == len(body)
}

// fill takes what is in a hole, which begins at i, and returns where that ends; at most i where it is not what belongs there.
func (u *Unary) fill(h *hole, body []byte, i int) (end int) {
	if h.text {
		if end = closing(body, i); end > i {
			u.string(h.holder, body[i:end])
		}
		return end
	}
	n, whole, end := numberAt(body, i)
	u.number(h.holder, n, whole)
	return end
}

// after returns where fixed ends, which is not empty, if that is what body has at i; 0 if not.
func after(body []byte, i int, fixed string) int {
	if end := i + len(fixed); end <= len(body) && string(body[i:end]) == fixed {
		return end
	}
	return 0
}

func (u *Unary) string(h holder, raw []byte) {
	switch h {
	case holdsText:
		u.Text = raw
	case holdsFinish:
		u.Finish = finishName(raw)
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
	}
}
