package messages

import (
	"bytes"

	"octet/gateway/doors"
)

// open begins a message of a role.
func (c *chat) open(role string) {
	c.out = doors.AppendComma(c.out, '[')
	c.out = append(append(append(c.out, `{"role":"`...), role...), '"')
	c.origin = append(c.origin, c.at)
}

// system writes a message of the system's: a string, or blocks of text.
func (c *chat) system(v *doors.Value) error {
	switch v.Kind() {
	case 0:
		return nil
	case '"':
		c.open("system")
		c.member("content")
		c.out = append(append(append(c.out, '"'), unbilled(v.Raw[1:])...), '}')
		return nil
	}
	some := false
	err := v.Each(func(element *doors.Value) error {
		b, err := readBlock(element)
		switch {
		case err != nil:
			return err
		case b.kind != "text":
			return element.Untranslatable()
		case bills(b.text.Raw):
			return nil
		}
		if !some {
			c.open("system")
			c.member("content")
			c.out = append(c.out, '[')
		}
		some = true
		return c.part(b)
	})
	if some {
		c.out = append(c.out, "]}"...)
	}
	return err
}

// billing is how a line begins that an agent puts at the head of its system prompt for its provider. It changes with
// every request, and everything behind it would be computed anew: it is no part of the prompt, as in vLLM's own door.
const billing = "x-anthropic-billing-header:"

// bills returns true if a JSON string is such a line.
func bills(raw []byte) bool { return len(raw) > 0 && bytes.HasPrefix(raw[1:], []byte(billing)) }

// unbilled returns what stands between quotes, with the last of them, without such a line at its head.
func unbilled(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte(billing)) {
		return text
	}
	switch line, rest, more := bytes.Cut(text, []byte(`\n`)); {
	case !more:
		return text[len(text)-1:]
	case bytes.IndexByte(line, '\\') < 0:
		return rest
	}
	return text
}

// turn writes one message as one or several, and returns its role.
func (c *chat) turn(v *doors.Value) (role string, err error) {
	var m [2]doors.Value
	if err := v.Members([]string{"role", "content"}, m[:]); err != nil {
		return "", err
	}
	for i, name := range [...]string{"role", "content"} {
		if m[i].Raw == nil {
			return "", v.Missing(name)
		}
	}
	if role, err = m[0].OneOf("user", "assistant", "system"); err != nil {
		return "", err
	}
	if role != "system" {
		c.returns = false
	}
	switch {
	case role == "system":
		return role, c.system(&m[1])
	case m[1].Kind() == '"':
		c.open(role)
		c.set("content", m[1].Raw)
		c.out = append(c.out, '}')
		return role, nil
	case role == "user":
		return role, c.user(&m[1])
	}
	return role, c.assistant(&m[1])
}

// user writes the blocks of a user's message in their order: each tool result is a message of its own, and so is each
// run of what stands between two.
func (c *chat) user(content *doors.Value) error {
	open, some := false, false
	closes := func() {
		if open {
			c.out = append(c.out, "]}"...)
		}
		open = false
	}
	err := content.Each(func(v *doors.Value) error {
		some = true
		b, err := readBlock(v)
		switch {
		case err != nil:
			return err
		case b.kind == "tool_result":
			closes()
			c.returns = true
			return c.result(b)
		case b.kind != "text" && b.kind != "image":
			return v.Untranslatable()
		}
		if !open {
			open = true
			c.open("user")
			c.member("content")
			c.out = append(c.out, '[')
		}
		return c.part(b)
	})
	closes()
	if err == nil && !some {
		err = content.Invalid("must hold at least one block")
	}
	return err
}

// assistant writes the blocks of an answer as one message. Its text, its reasoning and its calls are members beside
// each other there, which have no order.
func (c *chat) assistant(content *doors.Value) error {
	var texts, thoughts, calls []block
	err := content.Each(func(v *doors.Value) error {
		b, err := readBlock(v)
		switch {
		case err != nil:
		case b.kind == "text":
			texts = append(texts, b)
		case b.kind == "thinking":
			thoughts = append(thoughts, b)
		case b.kind == "tool_use":
			calls = append(calls, b)
		default:
			err = v.Untranslatable()
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(texts)+len(thoughts)+len(calls) == 0 {
		return content.Invalid("must hold at least one block")
	}
	c.open("assistant")
	if err := c.thoughts(thoughts); err != nil {
		return err
	}
	if err := c.texts(texts, len(calls) > 0); err != nil {
		return err
	}
	if err := c.calls(calls); err != nil {
		return err
	}
	c.out = append(c.out, '}')
	return nil
}

// texts writes the content of an answer, which calls can do without.
func (c *chat) texts(blocks []block, calls bool) error {
	if len(blocks) == 0 {
		if !calls {
			c.set("content", []byte(`""`))
		}
		return nil
	}
	c.member("content")
	if len(blocks) == 1 {
		return c.text(blocks[0])
	}
	c.out = append(c.out, '[')
	for _, b := range blocks {
		if err := c.part(b); err != nil {
			return err
		}
	}
	c.out = append(c.out, ']')
	return nil
}

// thoughts writes the reasoning of an answer. Its signatures are the door's own, and empty.
func (c *chat) thoughts(blocks []block) error {
	if len(blocks) == 0 {
		return nil
	}
	c.member("reasoning_content")
	c.out = append(c.out, '"')
	for i := range blocks {
		v := &blocks[i].thinking
		if v.Raw == nil {
			return blocks[i].at.Missing("thinking")
		}
		text, err := v.Text()
		if err != nil {
			return err
		}
		c.out = append(c.out, text...)
	}
	c.out = append(c.out, '"')
	return nil
}
