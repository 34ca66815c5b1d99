package wire

import "slices"

var roles = [...]string{"system", "developer", "user", "assistant", "tool", "function"}

// roleless stands for a role that is missing or wrong; such a body is refused.
const roleless = uint8(len(roles))

func roleOf(name []byte) uint8 {
	switch string(name) {
	case "system":
		return 0
	case "developer":
		return 1
	case "user":
		return 2
	case "assistant":
		return 3
	case "tool":
		return 4
	case "function":
		return 5
	}
	return roleless
}

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
			p.excess(n, p.lim.Messages, "messages")
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
	*message        // the request's last
	content  bool   // neither missing nor null
	calls    bool   // tool_calls or function_call is there
	read     uint32 // the known members read so far, by their numbers
}

func (p *parser) message() {
	at := p.i
	if !p.object("must be a message object") {
		return
	}
	d := draft{message: p.newMessage()}
	if o := openingOf(p.b[p.i:]); o != nil {
		p.i += len(o.said) - 1
		p.fresh = false
		d.role, d.text, d.content, d.read = o.role, p.text(), true, 1<<memberRole|1<<memberContent
	}
	for name, ok := p.name(); ok; name, ok = p.name() {
		p.messageMember(&d, name)
	}
	assistant := d.role != roleless && roles[d.role] == "assistant"
	switch {
	case d.role == roleless:
		p.refuseMissing(at, "role")
	case !d.content && !(assistant && d.calls):
		p.refuseMissing(at, "content")
	}
}

// newMessage adds a message to the request, to be filled in its place.
func (p *parser) newMessage() *message {
	n := len(p.r.messages)
	p.r.messages = slices.Grow(p.r.messages, 1)[:n+1]
	m := &p.r.messages[n]
	*m = message{}
	m.role = roleless
	return m
}

// The members of a message that are read, by their places in memberNames.
const (
	memberRole = iota
	memberContent
	memberName
	memberCallID
	memberCalls
	memberFunction
)

var memberNames = [...]string{"role", "content", "name", "tool_call_id", "tool_calls", "function_call"}

// memberOf is where name is in memberNames, -1 for one that is not.
func memberOf(name []byte) int {
	switch string(name) {
	case "role":
		return memberRole
	case "content":
		return memberContent
	case "name":
		return memberName
	case "tool_call_id":
		return memberCallID
	case "tool_calls":
		return memberCalls
	case "function_call":
		return memberFunction
	}
	return -1
}

func isMessageMember(name []byte) bool { return memberOf(name) >= 0 }

func (p *parser) messageMember(d *draft, name text) {
	plain := p.bytes(name)
	known := memberOf(plain)
	if known < 0 {
		p.once(name)
		p.refuseCase(plain, isMessageMember)
		p.inside(name, nil)
		return
	}
	if d.read>>known&1 != 0 {
		p.repeated()
	}
	d.read |= 1 << known
	p.under(memberNames[known])
	switch known {
	case memberRole:
		d.role = p.role()
	case memberContent:
		p.content(d)
	case memberName, memberCallID:
		var t text
		p.string(&t)
	case memberCalls:
		d.calls = p.calls() || d.calls
	case memberFunction:
		d.calls = p.optional('{', "must be an object") || d.calls
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
	if role := roleOf(p.bytes(p.plain(t))); role != roleless {
		return role
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
		if n >= p.lim.Entries {
			p.excess(n, p.lim.Entries, "parts")
			continue
		}
		p.index(n)
		p.contentPart()
		p.up()
	}
	if n == 0 {
		p.refuseAt(at, CodeInvalidValue, "must hold at least one part")
	}
}

func isPartMember(name []byte) bool { return string(name) == "type" || string(name) == "text" }

// part is one part of a content, as its members say.
type part struct {
	at                  int
	kind, body, picture text
	typed, filled       bool
	pictureAt           int    // 0 if there is no picture
	stray               string // a member that reaches no engine; "" if there is none
	strayAt             int
}

// contentPart takes {"type": "text", "text": …}, and images: see image. A part of another kind is refused as a whole,
// whatever it holds.
func (p *parser) contentPart() {
	c := part{at: p.i}
	if !p.object("must be a part object") {
		return
	}
	for name, ok := p.key(); ok; name, ok = p.key() {
		switch plain := p.bytes(name); string(plain) {
		case "type":
			p.under("type")
			c.typed = p.requiredString(&c.kind)
			p.up()
		case "text":
			p.under("text")
			c.filled = p.requiredString(&c.body)
			p.up()
		default:
			p.otherOfPart(plain, &c)
		}
	}
	p.takePart(&c)
}

// otherOfPart takes a member of a part that is neither its type nor its text.
func (p *parser) otherOfPart(name []byte, c *part) {
	p.refuseCase(name, isPartMember)
	if string(name) == imageMember && p.Peek() == '{' {
		c.pictureAt = p.i
		c.picture = p.image()
		return
	}
	if p.refuses(name, p.hash) && p.Peek() != 'n' && c.stray == "" {
		c.stray, c.strayAt = clipped(name), p.i
	}
	p.Skip()
}

// takePart takes a whole part, or refuses it.
func (p *parser) takePart(c *part) {
	if !c.typed {
		p.refuseMissing(c.at, "type")
		return
	}
	kind := string(p.bytes(p.plain(c.kind)))
	if kind == "text" && c.stray == "" && c.pictureAt > 0 {
		c.stray, c.strayAt = imageMember, c.pictureAt
	}
	switch {
	case kind != "text" && kind != imageMember:
		p.refuseAt(c.at, CodeUnsupportedContent, "is neither text nor an image")
	case kind == "text" && !c.filled:
		p.refuseMissing(c.at, "text")
	case c.stray != "":
		p.under(c.stray)
		p.refuseAt(c.strayAt, CodeUnsupportedParameter, "reaches no engine")
		p.up()
	case kind == imageMember:
		p.addImage(c.at, c.picture)
	default:
		p.r.parts = append(p.r.parts, c.body)
	}
}
