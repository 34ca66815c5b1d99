package wire

// prompt takes a string, an array of strings, an array of token ids, or an array of such arrays.
func (p *parser) prompt() {
	switch p.Peek() {
	case '"':
		p.r.prompts = append(p.r.prompts, prompt{text: p.text()})
	case '[':
		p.promptArray()
	case 'n':
		p.Null()
	default:
		p.refuse(CodeInvalidValue,
			"must be a string, an array of strings or token ids, or an array of arrays of token ids")
		p.Skip()
	}
}

// promptArray reads an array whose first element says what all are: a string, a token id or an array of token ids.
func (p *parser) promptArray() {
	start := p.i
	p.Enter('[')
	var first byte
	n := 0
	for ; p.More(); n++ {
		kind := elementKind(p.Peek())
		if n == 0 {
			first = kind
		}
		switch {
		case kind != first:
			p.refuseElement(n, "must be of the same kind as the first")
			p.Skip()
		case kind == '0':
			p.token(n)
		default:
			p.promptElement(n, kind)
		}
	}
	if n == 0 {
		p.refuseAt(start, CodeInvalidValue, "must not be empty")
	}
	if first == '0' {
		p.r.prompts = append(p.r.prompts, tokenPrompt(start, p.i, n))
	}
}

// promptElement reads one prompt of several.
func (p *parser) promptElement(n int, kind byte) {
	switch {
	case n >= p.lim.Prompts:
		p.excess(n, p.lim.Prompts, "prompts")
	case kind == '"':
		p.r.prompts = append(p.r.prompts, prompt{text: p.text()})
	case kind == '[':
		p.index(n)
		p.tokens()
		p.up()
	default:
		p.refuseElement(n, "must be a string, a token id or an array of token ids")
		p.Skip()
	}
}

// suffixMember is the text behind what is to be filled in, where a completion's prompt is the text before it.
const suffixMember = "suffix"

func (p *parser) suffix() {
	if p.Peek() == '"' {
		p.r.suffix = p.text()
		return
	}
	p.optional('"', "must be a string")
}

// tokens reads one array of token ids.
func (p *parser) tokens() {
	start := p.i
	p.Enter('[')
	n := 0
	for ; p.More(); n++ {
		p.token(n)
	}
	if n == 0 {
		p.refuseAt(start, CodeInvalidValue, "must not be empty")
	}
	p.r.prompts = append(p.r.prompts, tokenPrompt(start, p.i, n))
}

func (p *parser) token(n int) {
	at := p.i
	if id, ok := p.Int(); !ok || id < 0 || id > maxInt {
		p.index(n)
		p.refuseAt(at, CodeInvalidValue, "must be a token id from 0 to 2147483647")
		p.up()
	}
}

func (p *parser) refuseElement(n int, message string) {
	p.index(n)
	p.refuse(CodeInvalidValue, message)
	p.up()
}

func tokenPrompt(start, end, n int) prompt {
	return prompt{text: text{off: uint32(start), end: uint32(end)}, tokens: uint32(n)}
}

// elementKind is the first byte of a value, with '0' for every number.
func elementKind(ch byte) byte {
	if ch == '-' || ch-'0' <= 9 {
		return '0'
	}
	return ch
}
