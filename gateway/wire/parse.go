package wire

import "slices"

// Parse reads body into r in one pass. The error is always an *Error; r is of no use after one. r aliases body.
func Parse(kind Kind, body []byte, lim Limits, r *Request) error {
	r.Reset()
	r.Kind = kind
	p := &r.p
	p.begin(r, body, lim)
	if p.Peek() == '{' {
		r.opening = p.i
		p.members()
	} else {
		p.refuse(CodeInvalidRequest, "the body must be a JSON object")
		p.Skip()
	}
	p.End()
	p.settle()
	return p.verdict()
}

// parser walks a body once: the cursor judges the syntax, the readers of params.go the meaning.
type parser struct {
	Cursor
	names   keySet
	r       *Request
	lim     Limits
	path    []byte // of the value being read, as messages[2].content
	folded  []byte // scratch of refuseCase
	refused Error  // the first fault of meaning
	model   string // the last one read: the same name again costs no allocation
}

func (p *parser) begin(r *Request, body []byte, lim Limits) {
	if lim.Depth <= 0 {
		lim.Depth = 64
	}
	if lim.Messages <= 0 {
		lim.Messages = 4096
	}
	p.r, p.lim = r, lim
	p.keys = &p.names
	p.start(body, lim.Depth)
}

func (p *parser) reset() {
	p.names.reset()
	arena := p.arena[:0]
	if cap(arena) > keepArena {
		arena = nil
	}
	p.Cursor = Cursor{arena: arena}
	p.r, p.path, p.refused = nil, kept(p.path), Error{}
	if len(p.model) > keepItems {
		p.model = ""
	}
}

// members reads the body's own members.
func (p *parser) members() {
	p.Enter('{')
	for name, ok := p.key(); ok; name, ok = p.key() {
		p.Peek()
		start := p.i
		p.member(p.bytes(name))
		if n := len(p.r.members); n == cap(p.r.members) {
			p.r.members = slices.Grow(p.r.members, max(16, n)) // doubling: a body of members alone stays a small multiple
		}
		p.r.members = append(p.r.members, member{name, uint32(start), uint32(p.i)})
	}
}

func (p *parser) member(name []byte) {
	read := paramReader(p.r.Kind, name)
	if read == nil {
		p.refuseCase(name, func(folded []byte) bool { return paramReader(p.r.Kind, folded) != nil })
		p.Skip()
		return
	}
	p.path = append(p.path[:0], name...)
	read(p)
	p.path = p.path[:0]
}

// settle judges what only the whole body shows.
func (p *parser) settle() {
	r := p.r
	r.MaxTokens = r.maxTokens
	if r.maxCompletionTokens >= 0 {
		r.MaxTokens = r.maxCompletionTokens
	}
	switch {
	case r.Kind == Chat && len(r.messages) == 0:
		p.refuseMissing(r.opening, "messages")
	case r.Kind == Completion && len(r.prompts) == 0:
		p.refuseMissing(r.opening, "prompt")
	}
}

func (p *parser) verdict() error {
	if p.fault.code != "" {
		return &Error{Code: p.fault.code, Message: p.fault.what, Offset: p.fault.at}
	}
	if p.refused.Code != "" {
		e := p.refused
		return &e
	}
	return nil
}

// refuse notes a fault of meaning at the value that comes next.
func (p *parser) refuse(code, message string) {
	p.Peek()
	p.refuseAt(p.i, code, message)
}

func (p *parser) refuseAt(at int, code, message string) {
	if p.refused.Code == "" {
		p.refused = Error{Code: code, Param: string(p.path), Message: message, Offset: at}
	}
}

// refuseMissing notes that the object at offset at lacks a member, named from the path.
func (p *parser) refuseMissing(at int, member string) {
	mark := p.under(member)
	p.refuseAt(at, CodeMissingParameter, "is missing")
	p.path = p.path[:mark]
}

// under goes one member down the path and returns the mark to come back to.
func (p *parser) under(member string) int {
	mark := len(p.path)
	if mark > 0 {
		p.path = append(p.path, '.')
	}
	p.path = append(p.path, member...)
	return mark
}
