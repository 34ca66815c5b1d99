package sse

// outline is the JSON of an answer that was walked, around the strings and numbers in it that another answer may have otherwise. An
// answer with the same bytes around other strings and numbers says the same of its own.
type outline struct {
	fixed []byte // what is around the holes, in a row
	holes []hole
}

// hole is where a string or a number stands. A string is not empty: one that is counts for less, see chunk.
type hole struct {
	at     int  // bytes of fixed before it
	text   bool // a string, of which the quotes are fixed
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
	l := learner{reader: reader{b: body, room: maxDepth}, k: k, o: &outline{}}
	l.peek()
	l.value("")
	l.keep(len(body))
	if len(l.o.fixed) > mostFixed || len(l.o.holes) > mostHoles {
		return nil
	}
	return l.o
}

// learner walks an answer for its outline.
type learner struct {
	reader
	k    *chunk
	o    *outline
	kept int // what of the answer is in the outline
}

// value reads one value, of a member of this name or of an array.
func (l *learner) value(name string) {
	switch ch := l.peek(); {
	case ch == '{':
		for l.enter(); l.key(); {
			l.value(string(l.name))
		}
	case ch == '[':
		for l.enter(); l.more(); {
			l.value("")
		}
	case ch == '"' && !decides(name):
		at := l.i + 1
		if raw := l.text(); len(raw) > 0 {
			l.hole(at, at+len(raw), true)
		}
	case (ch == '-' || ch-'0' <= 9) && !decides(name):
		at := l.i
		l.number()
		l.hole(at, l.i, false)
	default:
		l.skip()
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
	l.keep(at)
	l.kept = end
	h := hole{at: len(l.o.fixed), text: text}
	for held, end := range l.k.ends {
		if end == l.i {
			h.holder = holder(held)
		}
	}
	l.o.holes = append(l.o.holes, h)
}

// keep takes on what is not yet in the outline and stands before end.
func (l *learner) keep(end int) {
	if len(l.o.fixed) <= mostFixed {
		l.o.fixed = append(l.o.fixed, l.b[l.kept:end]...)
	}
	l.kept = end
}

// match reads body into u if it has the outline; u is undefined if not.
func (o *outline) match(body []byte, u *Unary) bool {
	*u = Unary{}
	i, from := 0, 0
	for n := range o.holes {
		h := &o.holes[n]
		if i = after(body, i, o.fixed[from:h.at]); i < 0 || i == len(body) {
			return false
		}
		from = h.at
		if h.text {
			end := closing(body, i)
			if end == 0 {
				end = hardClosing(body, i)
			}
			if end <= i {
				return false
			}
			u.string(h.holder, body[i:end])
			i = end
			continue
		}
		r := reader{b: body, i: i}
		if ch := body[i]; ch != '-' && ch-'0' > 9 {
			return false
		}
		number, whole := r.number()
		u.number(h.holder, number, whole)
		i = r.i
	}
	return after(body, i, o.fixed[from:]) == len(body)
}

// after returns where fixed ends, if it is what body has at i; -1 if not.
func after(body []byte, i int, fixed []byte) int {
	if end := i + len(fixed); end <= len(body) && string(body[i:end]) == string(fixed) {
		return end
	}
	return -1
}

// hardClosing is closing for any string; 0 is a fault.
func hardClosing(b []byte, i int) int {
	r := reader{b: b, i: i - 1}
	if r.hardText(); r.bad {
		return 0
	}
	return r.i - 1
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
