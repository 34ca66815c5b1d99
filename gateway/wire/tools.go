package wire

import "slices"

// tools is a list of tools by its place, without those of the members functions and function_call, which no engine's
// template shows.
type tools struct {
	off, end uint32 // with its brackets; both 0 if no tool is in it
	loose    bool   // its compact form is another than what stands there
}

// call is one of the calls of an assistant's message, as far as it is shown.
type call struct {
	name    text
	said    text   // the arguments; of form whole: the call as it stands
	message uint32 // whose it is
	form    callForm
}

type callForm uint8

const (
	callTexted callForm = iota // the arguments are a string, as the API says
	callJSON                   // the arguments are another value
	callWhole                  // it is no call of a function
)

// tools reads the tools of a chat.
func (p *parser) tools() {
	p.Peek()
	at := p.i
	p.untidy = false
	p.r.listed = p.r.listed[:0]
	if p.functions((*parser).listed); p.r.Tools && p.i > at && p.b[at] == '[' {
		p.r.tools = tools{off: uint32(at), end: uint32(p.i), loose: p.untidy}
	}
}

// functions passes tools, or what stood for them before there were tools, each by read.
func (p *parser) functions(read func(p *parser)) {
	if !p.Null() {
		p.entries("must be an array of objects", read)
	}
}

// tool passes one tool, which must have nothing that is refused everywhere: an engine that calls tools itself would
// go there.
func (p *parser) tool() {
	p.r.Tools = true
	if p.object("must be an object") {
		for name, ok := p.key(); ok; name, ok = p.key() {
			p.inside(name, nil)
		}
	}
}

func (p *parser) toolChoice() {
	switch p.Peek() {
	case '{':
		p.Skip()
		p.r.ToolChoice, p.r.MustCall = true, true
	case '"':
		var t text
		p.string(&t)
		choice := string(p.bytes(p.plain(t)))
		p.r.ToolChoice = p.r.ToolChoice || choice != "none"
		p.r.MustCall = p.r.MustCall || choice != "none" && choice != "auto"
	case 'n':
		p.Null()
	default:
		p.refuse(CodeInvalidValue, "must be a string or an object")
		p.Skip()
	}
}

// calls reads the calls of the message that is read, and returns true if there is a list of them.
func (p *parser) calls() bool {
	if p.Null() {
		return false
	}
	if p.Peek() != '[' {
		p.typed('[', "must be an array")
		return true
	}
	p.Enter('[')
	for n := len(p.r.calls); p.More(); n++ {
		if n >= p.lim.Entries {
			p.excess(n, p.lim.Entries, "calls in all messages")
			continue
		}
		p.call()
	}
	return true
}

// call reads one call. Whatever else than the call of a function it is passes, and is shown as it stands.
func (p *parser) call() {
	c := call{message: uint32(len(p.r.messages) - 1), form: callWhole}
	first, at := p.Peek(), p.i
	if first != '{' {
		p.Skip()
	} else {
		p.function(&c)
	}
	if c.form == callWhole {
		c.said = text{off: uint32(at), end: uint32(p.i)}
	}
	if n := len(p.r.calls); n == cap(p.r.calls) {
		p.r.calls = slices.Grow(p.r.calls, max(4, n))
	}
	p.r.calls = append(p.r.calls, c)
}

// function reads the members of a call.
func (p *parser) function(c *call) {
	p.Enter('{')
	for name, ok := p.key(); ok; name, ok = p.key() {
		if string(p.bytes(name)) == "function" && p.Peek() == '{' {
			p.called(c)
			continue
		}
		p.Skip()
	}
}

// called reads the function that a call names, and its arguments.
func (p *parser) called(c *call) {
	named, form := false, callJSON
	p.Enter('{')
	for name, ok := p.key(); ok; name, ok = p.key() {
		first := p.Peek()
		switch member := string(p.bytes(name)); {
		case member == "name" && first == '"':
			c.name = p.text()
			named = true
		case member == "arguments" && first == '"':
			c.said, form = p.text(), callTexted
		case member == "arguments":
			c.said.off = uint32(p.i)
			p.Skip()
			c.said.end = uint32(p.i)
		default:
			p.Skip()
		}
	}
	if named {
		c.form = form
	}
}

// AnswersTool returns true if the last message of a chat, the system's apart, is what a tool returned: the model goes
// on with what it has begun.
func (r *Request) AnswersTool() bool {
	for i := len(r.messages) - 1; i >= 0; i-- {
		switch r.Role(i) {
		case "tool", "function":
			return true
		case "system", "developer":
		default:
			return false
		}
	}
	return false
}
