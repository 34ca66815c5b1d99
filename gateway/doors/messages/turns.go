package messages

import (
	"bytes"

	"octet/gateway/doors"
	"octet/gateway/wire"
)

// system writes a message of the system's: a string, or blocks of text, which follow each other without a gap, as in
// vLLM's own door: a prompt is one, whichever way it goes.
func (c *chat) system(v *doors.Value) error {
	switch v.Kind() {
	case 0:
		return nil
	case '"':
		c.Open("system", c.at)
		c.Member("content")
		text := unbilled(v.Raw[1:])
		c.lost = c.lost || len(text) < len(v.Raw)-1 // vLLM's door leaves out blocks alone
		c.Out = append(append(append(c.Out, '"'), text...), '}')
		return nil
	}
	some := false
	err := v.Each(func(element doors.Value) error {
		b, err := readBlock(&element)
		switch {
		case err != nil:
			return err
		case b.kind != textBlock:
			return element.Untranslatable()
		case bills(b.text.Raw):
			c.billed = true
			return nil
		}
		text, err := b.text.Needed()
		if err != nil {
			return err
		}
		if !some {
			c.Open("system", c.at)
			c.Member("content")
			c.Out = append(c.Out, '"')
		}
		some = true
		c.Out = append(c.Out, text...)
		return nil
	})
	if some {
		c.Out = append(c.Out, `"}`...)
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
	for i := range m {
		if m[i].Raw == nil {
			return "", m[i].Missing()
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
		c.Message(role, c.at, m[1].Raw)
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
			c.Out = append(c.Out, "]}"...)
		}
		open = false
	}
	err := content.Each(func(v doors.Value) error {
		some = true
		b, err := readBlock(&v)
		switch {
		case err != nil:
			return err
		case b.kind == resultBlock:
			closes()
			c.returns = true
			return c.result(&b)
		case b.kind != textBlock && b.kind != imageBlock:
			return v.Untranslatable()
		}
		if !open {
			open = true
			c.Open("user", c.at)
			c.Member("content")
			c.Out = append(c.Out, '[')
		}
		return c.part(&b)
	})
	closes()
	if err == nil && !some {
		err = content.Invalid("must hold at least one block")
	}
	return err
}

// assistant writes the blocks of an answer as one message, whatever their order: what stands between a call and its
// result would part them.
func (c *chat) assistant(content *doors.Value) error {
	t := &c.answer
	if err := content.Each(func(v doors.Value) error {
		b, err := readBlock(&v)
		if err != nil {
			return err
		}
		t.Begin(c.at)
		return c.add(t, &b)
	}); err != nil {
		return err
	}
	if !t.Begun() {
		return content.Invalid("must hold at least one block")
	}
	c.Answer(t)
	return nil
}

// add adds a block to an answer. Signatures of reasoning are the door's own, and empty.
func (c *chat) add(t *doors.Turn, b *block) error {
	switch b.kind {
	case textBlock:
		_, err := b.text.Needed()
		t.Say(b.text.Raw)
		return err
	case thinkingBlock:
		text, err := b.text.Needed()
		t.Think(text)
		return err
	case useBlock:
		return c.call(t, b)
	}
	return b.at.Untranslatable()
}

// call adds a call to an answer.
func (c *chat) call(t *doors.Turn, b *block) error {
	id, err := b.id.Needed()
	if err != nil {
		return err
	}
	name, err := b.name.Needed()
	switch {
	case err != nil:
		return err
	case b.input.Raw == nil:
		return b.input.Missing()
	case b.input.Kind() != '{':
		return b.input.Invalid("must be an object")
	}
	c.input = wire.AppendQuoted(c.input[:0], b.input.Raw)
	t.Call(id, name, c.input)
	return nil
}
