package wire

var roles = [...]string{"system", "developer", "user", "assistant", "tool", "function"}

// roleless stands for a role that is missing or wrong; such a body is refused.
const roleless = uint8(len(roles))

func (p *parser) messages() {
	if p.Null() {
		return
	}
	if p.Peek() != '[' {
		p.refuse(CodeInvalidValue, "must be an array of messages")
		p.Skip()
		return
	}
	at := p.i
	p.Enter('[')
	n := 0
	for ; p.More(); n++ {
		if n >= p.lim.Messages {
			p.excess(n, "messages")
			continue
		}
		p.index(n)
		p.message()
		p.up()
	}
	if n == 0 {
		p.refuseAt(at, CodeInvalidValue, "must hold at least one message")
	}
}

// draft is a message while its members come in, in any order.
type draft struct {
	message
	content bool // neither missing nor null
	calls   bool // tool_calls or function_call is there
}

func (p *parser) message() {
	at := p.i
	d := draft{message: message{role: roleless}}
	if !p.object("must be a message object") {
		return
	}
	for name, ok := p.key(); ok; name, ok = p.key() {
		p.messageMember(&d, p.bytes(name))
	}
	assistant := d.role != roleless && roles[d.role] == "assistant"
	switch {
	case d.role == roleless:
		p.refuseMissing(at, "role")
	case !d.content && !(assistant && d.calls):
		p.refuseMissing(at, "content")
	}
	p.r.messages = append(p.r.messages, d.message)
}

// knownMember is name as a constant where a message has such a member, else "".
func knownMember(name []byte) string {
	switch string(name) {
	case "role":
		return "role"
	case "content":
		return "content"
	case "name":
		return "name"
	case "tool_call_id":
		return "tool_call_id"
	case "tool_calls":
		return "tool_calls"
	case "function_call":
		return "function_call"
	}
	return ""
}

func isMessageMember(name []byte) bool { return knownMember(name) != "" }

func (p *parser) messageMember(d *draft, name []byte) {
	known := knownMember(name)
	p.under(known)
	switch known {
	case "role":
		d.role = p.role()
	case "content":
		p.content(d)
	case "name", "tool_call_id":
		var t text
		p.string(&t)
	case "tool_calls":
		d.calls = p.optional('[', "must be an array") || d.calls
	case "function_call":
		d.calls = p.optional('{', "must be an object") || d.calls
	default:
		p.up()
		p.refuseCase(name, isMessageMember)
		p.Skip()
		return
	}
	p.up()
}

func (p *parser) role() uint8 {
	p.Peek()
	at := p.i
	var t text
	if !p.requiredString(&t) {
		return roleless
	}
	given := p.bytes(p.plain(t))
	for i, role := range roles {
		if string(given) == role {
			return uint8(i)
		}
	}
	p.refuseAt(at, CodeInvalidValue, "must be one of system, developer, user, assistant, tool, function")
	return roleless
}

// optional skips null, or a value that begins with first, and tells which: true is the value.
func (p *parser) optional(first byte, message string) bool {
	if p.Null() {
		return false
	}
	p.typed(first, message)
	return true
}

func (p *parser) content(d *draft) {
	switch p.Peek() {
	case '"':
		d.text = p.text()
		d.content = true
	case '[':
		d.from = uint32(len(p.r.parts))
		p.contentParts()
		d.to = uint32(len(p.r.parts))
		d.content = true
	case 'n':
		p.Null()
	default:
		p.refuse(CodeInvalidValue, "must be a string or an array of parts")
		p.Skip()
	}
}

func (p *parser) contentParts() {
	at := p.i
	p.Enter('[')
	n := 0
	for ; p.More(); n++ {
		p.index(n)
		p.contentPart()
		p.up()
	}
	if n == 0 {
		p.refuseAt(at, CodeInvalidValue, "must hold at least one part")
	}
}

func isPartMember(name []byte) bool { return string(name) == "type" || string(name) == "text" }

// contentPart takes {"type": "text", "text": …}. A part of another kind is refused as a whole, whatever it holds.
func (p *parser) contentPart() {
	at := p.i
	var kind, body text
	var typed, filled bool
	if !p.object("must be a part object") {
		return
	}
	for name, ok := p.key(); ok; name, ok = p.key() {
		plain := p.bytes(name)
		if !isPartMember(plain) {
			p.refuseCase(plain, isPartMember)
			p.Skip()
			continue
		}
		if string(plain) == "type" {
			p.under("type")
			typed = p.requiredString(&kind)
		} else {
			p.under("text")
			filled = p.requiredString(&body)
		}
		p.up()
	}
	switch {
	case !typed:
		p.refuseMissing(at, "type")
	case string(p.bytes(p.plain(kind))) != "text":
		p.refuseAt(at, CodeUnsupportedContent, "is not text, and only text is supported")
	case !filled:
		p.refuseMissing(at, "text")
	default:
		p.r.parts = append(p.r.parts, body)
	}
}
