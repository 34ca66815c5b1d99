package messages

import (
	"octet/gateway/doors"
)

// open begins a message of a role.
func (c *chat) open(role string) {
	c.out = doors.AppendComma(c.out, '[')
	c.out = append(append(append(c.out, `{"role":"`...), role...), '"')
	c.origin = append(c.origin, c.at)
}

// system writes the system prompt: a string, or blocks of text.
func (c *chat) system(v *doors.Value) error {
	switch v.Kind() {
	case 0:
		return nil
	case '"':
		c.open("system")
		c.set("content", v.Raw)
		c.out = append(c.out, '}')
		return nil
	}
	some := false
	err := v.Each(func(element *doors.Value) error {
		if !some {
			c.open("system")
			c.member("content")
			c.out = append(c.out, '[')
		}
		some = true
		b, err := readBlock(element)
		if err == nil && b.kind != "text" {
			err = element.Untranslatable()
		}
		if err != nil {
			return err
		}
		return c.part(b)
	})
	if some {
		c.out = append(c.out, "]}"...)
	}
	return err
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
	if role, err = m[0].OneOf("user", "assistant"); err != nil {
		return "", err
	}
	switch {
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
