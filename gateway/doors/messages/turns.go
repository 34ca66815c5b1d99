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
		text := unbilled(v.Raw()[1:])
		c.lost = c.lost || len(text) < len(v.Raw())-1 // vLLM's door leaves out blocks alone
		c.Out = append(append(append(c.Out, '"'), text...), '}')
		return nil
	}
	if v.Kind() != '[' {
		return v.Invalid("must be an array")
	}
	some, cur := false, v.Again()
	err := doors.Objects(&cur, &c.block, blockNames, func(b *doors.Object) error {
		kind, err := kindOf(b)
		said := b.Member(ofText)
		switch {
		case err != nil:
			return err
		case kind != textBlock:
			return b.Untranslatable()
		case bills(said.Raw()):
			c.billed = true
			return nil
		}
		text, err := said.Needed()
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

// turns reads the turns, and writes them behind the system prompt, if that has come.
func (c *chat) turns(cur *wire.Cursor) error {
	c.at = -1
	if c.prompted = !c.sent[system].Absent(); c.prompted {
		if err := c.system(&c.sent[system]); err != nil {
			return err
		}
	}
	return doors.Each(cur, func(cur *wire.Cursor) error {
		c.at++
		return c.turn(cur)
	})
}

var turnMembers = []string{"role", "content"}

// turn reads one message, and writes it as one or several.
func (c *chat) turn(cur *wire.Cursor) error {
	var m [2]doors.Value
	written := false
	err := doors.Members(cur, turnMembers, m[:], func(i int, cur *wire.Cursor) error {
		if written = i == 1 && !m[0].Absent(); !written {
			return nil
		}
		return c.content(&m[0], cur)
	})
	if err != nil || written {
		return err
	}
	for i := range m {
		if m[i].Absent() {
			return m[i].Missing()
		}
	}
	again := m[1].Again()
	return c.content(&m[0], &again)
}

// content reads the content of a message of a role, and writes it.
func (c *chat) content(by *doors.Value, cur *wire.Cursor) error {
	role, err := by.OneOf("user", "assistant", "system")
	if err != nil {
		return err
	}
	if c.last = role; role != "system" {
		c.returns = false
	}
	switch {
	case role == "system":
		content := doors.Read(cur)
		return c.system(&content)
	case cur.Peek() == '"':
		content := doors.Read(cur)
		c.Message(role, c.at, content.Raw())
		return nil
	case role == "user":
		return c.user(cur)
	}
	return c.assistant(cur)
}

// user writes the blocks of a user's message in their order: each tool result is a message of its own, and so is each
// run of what stands between two.
func (c *chat) user(cur *wire.Cursor) error {
	open, some, content := false, false, doors.Here(cur)
	closes := func() {
		if open {
			c.Out = append(c.Out, "]}"...)
		}
		open = false
	}
	err := doors.Objects(cur, &c.block, blockNames, func(b *doors.Object) error {
		some = true
		kind, err := kindOf(b)
		switch {
		case err != nil:
			return err
		case kind == resultBlock:
			closes()
			c.returns = true
			return c.result(b)
		case kind != textBlock && kind != imageBlock:
			return b.Untranslatable()
		}
		if !open {
			open = true
			c.Open("user", c.at)
			c.Member("content")
			c.Out = append(c.Out, '[')
		}
		return c.part(b, kind)
	})
	closes()
	if err == nil && !some {
		err = content.Invalid("must hold at least one block")
	}
	return err
}

// assistant writes the blocks of an answer as one message, whatever their order: what stands between a call and its
// result would part them.
func (c *chat) assistant(cur *wire.Cursor) error {
	t, content := &c.answer, doors.Here(cur)
	if err := doors.Objects(cur, &c.block, blockNames, func(b *doors.Object) error {
		t.Begin(c.at)
		return c.add(t, b)
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
func (c *chat) add(t *doors.Turn, b *doors.Object) error {
	kind, err := kindOf(b)
	if err != nil {
		return err
	}
	switch kind {
	case textBlock:
		text := b.Member(ofText)
		_, err := text.Needed()
		t.Say(text.Raw())
		return err
	case thinkingBlock:
		thought := b.Member(ofThought)
		text, err := thought.Needed()
		t.Think(text)
		return err
	case useBlock:
		return c.call(t, b)
	}
	return b.Untranslatable()
}

// call adds a call to an answer.
func (c *chat) call(t *doors.Turn, b *doors.Object) error {
	of, called, input := b.Member(ofID), b.Member(ofName), b.Member(ofInput)
	id, err := of.Needed()
	if err != nil {
		return err
	}
	name, err := called.Needed()
	switch {
	case err != nil:
		return err
	case input.Absent():
		return input.Missing()
	case input.Kind() != '{':
		return input.Invalid("must be an object")
	}
	c.input = wire.AppendQuoted(c.input[:0], input.Raw())
	t.Call(id, name, c.input)
	return nil
}
