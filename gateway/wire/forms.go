package wire

import "fmt"

// shaped reads the value of a member that is judged by its form alone.
func (p *parser) shaped(m *Member) {
	switch {
	case p.Null():
	case m.Takers == 0:
		p.refuse(CodeUnsupportedParameter, "reaches no engine")
		p.Skip()
	case m.Form == FormFlag:
		p.boolean(new(bool))
	case m.Form == FormWhole:
		p.integer(int(m.Lo), int(m.Hi), new(int))
	case m.Form == FormReal:
		p.float(interval{m.Lo, m.Hi, false}, new(Number))
	case m.Form == FormText:
		p.shortText(m)
	case m.Form == FormTexts:
		p.textOrTexts(m)
	case m.Form == FormWholes:
		p.entries("must be an array of integers", func(*parser) { p.integer(int(m.Lo), int(m.Hi), new(int)) })
	case m.Form == FormWeights:
		p.weights(m)
	case m.Form == FormObject:
		p.objectOf(m)
	case m.Form == FormObjects:
		p.entries("must be an array of objects", func(*parser) { p.typed('{', "must be an object") })
	default:
		p.Skip()
	}
}

func (p *parser) shortText(m *Member) {
	at := p.i
	var t text
	if p.requiredString(&t) && m.Hi > 0 && float64(t.end-t.off) > m.Hi {
		p.refuseAt(at, CodeInvalidValue, fmt.Sprintf("must have at most %d bytes", int(m.Hi)))
	}
}

func (p *parser) textOrTexts(m *Member) {
	if p.Peek() == '"' {
		p.shortText(m)
		return
	}
	p.entries("must be a string or an array of strings", func(*parser) { p.shortText(m) })
}

// entries reads an array of bounded length, each element by read.
func (p *parser) entries(message string, read func(p *parser)) {
	p.bounded(p.lim.Entries, message, read)
}

func (p *parser) bounded(most int, message string, read func(p *parser)) {
	if p.Peek() != '[' {
		p.refuse(CodeInvalidValue, message)
		p.Skip()
		return
	}
	p.Enter('[')
	for i := 0; p.More(); i++ {
		if i >= most {
			p.excess(i, most, "entries")
			continue
		}
		p.index(i)
		read(p)
		p.up()
	}
}

// weights takes {"42": 1.5} and, as llama.cpp has it, [[42, 1.5]].
func (p *parser) weights(m *Member) {
	if p.Peek() == '[' {
		p.entries("", func(*parser) { p.typed('[', "must be a pair") })
		return
	}
	if !p.object("must be an object of numbers") {
		return
	}
	n := 0
	for _, ok := p.key(); ok; _, ok = p.key() {
		if n++; n > p.lim.Entries {
			p.excess(n-1, p.lim.Entries, "entries")
			continue
		}
		p.float(interval{m.Lo, m.Hi, false}, new(Number))
	}
}

// objectOf reads an object that has neither what is refused everywhere nor what this one must not have.
func (p *parser) objectOf(m *Member) {
	if !p.object("must be an object") {
		return
	}
	n := 0
	for name, ok := p.key(); ok; name, ok = p.key() {
		if n++; n > p.lim.Entries {
			p.excess(n-1, p.lim.Entries, "entries")
			continue
		}
		if m.Not == nil {
			p.Skip() // its members are its own
			continue
		}
		p.inside(name, m.Not)
	}
}

// inside passes the value of a member within another, and refuses one that must not be there.
func (p *parser) inside(name text, not []string) {
	plain := p.bytes(name)
	refused := p.refuses(plain, p.hash)
	for _, n := range not {
		refused = refused || n == string(plain)
	}
	if refused && p.Peek() != 'n' {
		p.under(clipped(plain))
		p.refuse(CodeUnsupportedParameter, "reaches no engine")
		p.up()
	}
	p.Skip()
}

// stranger passes a member that nothing is known of, at the path of the object that has it, and notes its name, unless
// it is null, which is absent.
func (p *parser) stranger(name text) {
	if p.Peek() == 'n' {
		p.Skip()
		return
	}
	plain := p.bytes(name)
	refused := p.refuses(plain, p.hash)
	if refused || p.lim.Members != nil && p.r.unknown == "" {
		p.under(clipped(plain))
		if refused {
			p.refuse(CodeUnsupportedParameter, "reaches no engine")
		} else {
			p.r.unknown = p.spelt()
		}
		p.up()
	}
	p.Skip()
}

// clipped is a member's name as far as it is told.
func clipped(name []byte) string { return string(name[:min(len(name), maxKnown)]) }
