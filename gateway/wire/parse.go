package wire

import (
	"fmt"
	"slices"
)

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
	path
	names   keySet
	table   *table // of the vocabulary
	known   *KnownTools
	r       *Request
	lim     Limits
	folded  []byte // scratch of refuseCase
	read    uint64 // the known members read so far, by their bits
	refused Error  // the first fault of meaning
	model   string // the last one read: the same name again costs no allocation
}

func (p *parser) begin(r *Request, body []byte, lim Limits) {
	p.r, p.lim = r, lim.orDefaults()
	p.keys = &p.names
	p.table, p.known = lim.Members.of(r.Kind), lim.Members.knownTools()
	p.start(body, p.lim.Depth)
}

func (p *parser) reset() {
	p.names.reset()
	arena := p.arena[:0]
	if cap(arena) > keepArena {
		arena = nil
	}
	p.Cursor = Cursor{}
	p.arena = arena
	p.r, p.table, p.known, p.depth, p.read = nil, nil, nil, 0, 0
	p.lim.Members = nil
	p.refused = Error{}
	if len(p.model) > keepItems {
		p.model = ""
	}
}

// members reads the body's own members.
func (p *parser) members() {
	p.Enter('{')
	for name, ok := p.name(); ok; name, ok = p.name() {
		p.Peek()
		start := p.i
		p.member(name)
		if n := len(p.r.members); n == cap(p.r.members) {
			// doubling: a body of members alone stays a small multiple
			p.r.members = slices.Grow(p.r.members, max(16, n))
		}
		p.r.members = append(p.r.members, member{name, uint32(start), uint32(p.i)})
	}
}

func (p *parser) member(name text) {
	plain := p.bytes(name)
	known := p.table.find(plain, p.hash)
	if known == nil {
		p.once(name)
		p.refuseCase(plain, func(folded []byte) bool { return p.table.find(folded, hashOf(folded)) != nil })
		p.stranger(name)
		return
	}
	start := p.i
	if known.takers != everyTaker && p.Peek() != 'n' && known.takers != 0 {
		p.r.takers &= known.takers
	}
	p.under(known.name)
	if known.read != nil {
		if p.read&known.bit != 0 {
			p.repeated()
		}
		p.read |= known.bit
		known.read(p)
	} else {
		p.once(name)
		p.shaped(known.member)
	}
	if p.i-start > p.lim.Bytes && !known.long {
		p.refuseAt(start, CodeInvalidValue, fmt.Sprintf("is longer than %d bytes", p.lim.Bytes))
	}
	p.up()
}

// settle judges what only the whole body shows.
func (p *parser) settle() {
	r := p.r
	r.MaxTokens = r.maxTokens
	if r.maxCompletionTokens >= 0 {
		r.MaxTokens = r.maxCompletionTokens
	}
	p.settleEnd()
	switch {
	case r.Kind == Chat && len(r.messages) == 0:
		p.refuseMissing(r.opening, "messages")
	case r.Kind == Completion && len(r.prompts) == 0:
		p.refuseMissing(r.opening, "prompt")
	}
}

// settleEnd refuses answers that would go on beyond what is counted.
func (p *parser) settleEnd() {
	r := p.r
	if r.minTokens > r.MaxTokens && r.MaxTokens >= 0 {
		p.refuseAs("min_tokens", "is more than the most that may be generated")
	}
	if r.endless && r.MaxTokens < 0 {
		p.refuseAs("ignore_eos", "needs max_tokens, without which nothing ends the answer")
	}
}

// refuseAs notes that the value of a top-level member that was read does not go with others.
func (p *parser) refuseAs(member, message string) {
	p.under(member)
	p.refuseAt(p.r.opening, CodeInvalidValue, message)
	p.up()
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
		p.refused = Error{Code: code, Param: p.spelt(), Message: message, Offset: at}
	}
}

// refuseMissing notes that the object at offset at lacks a member, named from the path.
func (p *parser) refuseMissing(at int, member string) {
	p.under(member)
	p.refuseAt(at, CodeMissingParameter, "is missing")
	p.up()
}
