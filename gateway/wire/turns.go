package wire

import "slices"

// Turn is one piece of text and the role that says it. Text aliases the body or the Request and lives as long.
type Turn struct {
	Role string
	Text []byte
}

// Roles of the turns that are not chat messages.
const (
	RoleSnippet = "repo_snippet" // an entry of repo_snippets
	RoleOutput  = "tool_output"  // an entry of tool_outputs
)

// Turns appends everything that tells what a request is about: its messages or text prompts, then repo snippets and
// tool outputs. Text is unescaped on the first call and kept; without escapes it is a part of the body.
func (r *Request) Turns(dst []Turn) []Turn {
	dst = slices.Grow(dst, len(r.messages)+len(r.prompts)+len(r.extras.snippets)+len(r.extras.outputs))
	r.EachMessage(func(role string, text []byte) { dst = append(dst, Turn{role, text}) })
	for i := range r.extras.snippets {
		dst = append(dst, Turn{RoleSnippet, r.plain(&r.extras.snippets[i])})
	}
	for i := range r.extras.outputs {
		dst = append(dst, Turn{RoleOutput, r.plain(&r.extras.outputs[i])})
	}
	return dst
}

// EachMessage calls f with every message in order, or with every text prompt of a completion as a user's: what the
// client wrote there, without the extras that Inline has put ahead of it. Text parts of one message come joined with a
// newline.
func (r *Request) EachMessage(f func(role string, text []byte)) {
	for i := range r.messages {
		f(r.Role(i), r.ownMessage(i))
	}
	for i := range r.prompts {
		if text, ok := r.OwnPrompt(i); ok {
			f("user", text)
		}
	}
}

// Role is the role that says message i.
func (r *Request) Role(i int) string { return roles[r.messages[i].role] }

// AppendText appends the text of message i, its parts joined with a newline, as the engine reads it, and keeps nothing
// of it.
func (r *Request) AppendText(dst []byte, i int) []byte {
	m := &r.messages[i]
	switch {
	case m.plain.form == formArena:
		return append(dst, r.p.bytes(m.plain)...)
	case m.from == m.to:
		return r.appendPlain(dst, m.text)
	}
	for k, part := range r.parts[m.from:m.to] {
		if k > 0 {
			dst = append(dst, '\n')
		}
		dst = r.appendPlain(dst, part)
	}
	return dst
}

func (r *Request) appendPlain(dst []byte, t text) []byte {
	if t.form&formEscaped != 0 {
		return AppendUnquoted(dst, r.p.bytes(t))
	}
	return append(dst, r.p.bytes(t)...)
}

// Messages is the number of chat messages.
func (r *Request) Messages() int { return len(r.messages) }

// Prompts is the number of prompts of a completion.
func (r *Request) Prompts() int { return len(r.prompts) }

// PromptText is prompt i as plain text, false when it is token ids.
func (r *Request) PromptText(i int) ([]byte, bool) {
	pr := &r.prompts[i]
	if pr.tokens > 0 {
		return nil, false
	}
	if pr.plain.form != formArena {
		pr.plain = r.p.plain(pr.text)
	}
	return r.p.bytes(pr.plain), true
}

// PromptTokens appends the token ids of prompt i, false when it is text.
func (r *Request) PromptTokens(i int, dst []uint32) ([]uint32, bool) {
	pr := r.prompts[i]
	if pr.tokens == 0 {
		return dst, false
	}
	c := NewCursor(r.p.bytes(pr.text), 1)
	for c.Enter('['); c.More(); {
		id, _ := c.Int()
		dst = append(dst, uint32(id))
	}
	return dst, true
}

// plain resolves t once and for all.
func (r *Request) plain(t *text) []byte {
	*t = r.p.plain(*t)
	return r.p.bytes(*t)
}

// messageText unescapes m, and joins its parts, on the first call.
func (r *Request) messageText(m *message) []byte {
	if m.plain.form != formArena {
		m.plain = r.plainOf(m)
	}
	return r.p.bytes(m.plain)
}

func (r *Request) plainOf(m *message) text {
	switch m.to - m.from {
	case 0:
		return r.p.plain(m.text)
	case 1:
		return r.p.plain(r.parts[m.from])
	}
	return r.p.join(r.parts[m.from:m.to])
}

// join copies parts into the arena with a newline between two; the quotes and braces around a part leave room for it.
func (c *Cursor) join(parts []text) text {
	off := len(c.lend())
	for i, part := range parts {
		if i > 0 {
			c.arena = append(c.arena, '\n')
		}
		c.arena = AppendUnquoted(c.arena, c.bytes(part))
	}
	return text{off: uint32(off), end: uint32(len(c.arena)), form: formArena}
}
