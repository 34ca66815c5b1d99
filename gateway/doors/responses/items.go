package responses

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// prompt writes what the model reads first.
func (c *chat) prompt(m *[members]doors.Value) error {
	if m[model].Raw != nil {
		if _, err := m[model].Text(); err != nil {
			return err
		}
		c.Set("model", m[model].Raw)
	}
	if m[input].Raw == nil {
		return m[input].Missing()
	}
	c.Member("messages")
	c.Out = append(c.Out, '[')
	if m[instructions].Raw != nil {
		if _, err := m[instructions].Text(); err != nil {
			return err
		}
		c.Message("system", c.at, m[instructions].Raw)
	}
	c.at = 0
	if m[input].Kind() == '"' {
		c.Message("user", c.at, m[input].Raw)
		c.Out = append(c.Out, ']')
		return nil
	}
	last := doors.Value{}
	err := m[input].Each(func(item doors.Value) error {
		last = item
		err := c.item(&item)
		c.at++
		return err
	})
	switch {
	case err != nil:
		return err
	case c.turn.Begun():
		return last.Refuse(wire.CodeUnsupportedParameter, "ends with the beginning of an answer, "+
			"which cannot be translated to a chat completion")
	case len(c.Origin) == 0:
		return m[input].Invalid("must hold at least one item")
	}
	c.Out = append(c.Out, ']')
	return nil
}

// kinds are the types of items that chat completions know.
var kinds = []string{"message", "reasoning", "function_call", "function_call_output"}

// item writes one item of the input, or adds it to the answer that is being put together.
func (c *chat) item(v *doors.Value) error {
	kind, err := v.Type()
	if err != nil {
		return err
	}
	if kind.Raw == nil {
		return c.said(v)
	}
	switch kind.In(kinds) {
	case 0:
		return c.said(v)
	case 1:
		return c.thought(v)
	case 2:
		return c.call(v)
	case 3:
		return c.result(v)
	}
	return kind.Untranslatable()
}

// said writes a message.
func (c *chat) said(v *doors.Value) error {
	var m [6]doors.Value
	if err := v.Members([]string{"type", "role", "content", "id", "status", "phase"}, m[:]); err != nil {
		return err
	}
	role, err := m[1].OneOf("user", "system", "developer", "assistant")
	if err != nil {
		return err
	}
	if m[2].Raw == nil {
		return m[2].Missing()
	}
	if role != "assistant" {
		c.flush()
		c.Open(role, c.at)
		c.Member("content")
		if err := c.content(&m[2], false); err != nil {
			return err
		}
		c.Out = append(c.Out, '}')
		return nil
	}
	if c.turn.Said() {
		c.next()
	}
	c.turn.Begin(c.at)
	if m[2].Kind() == '"' {
		c.turn.Say(m[2].Raw)
		return nil
	}
	parts, err := appendParts(nil, &m[2], true)
	c.turn.SayParts(parts)
	return err
}

// next begins another answer, unless the one that is being put together has calls: what stands between these and their
// results would part them.
func (c *chat) next() {
	if !c.turn.Called() {
		c.flush()
	}
}

// thought adds reasoning to the answer. What only another provider can read is refused.
func (c *chat) thought(v *doors.Value) error {
	var m [6]doors.Value
	if err := v.Members([]string{"type", "id", "summary", "content", "encrypted_content", "status"}, m[:]); err != nil {
		return err
	}
	if m[4].Raw != nil && string(m[4].Raw) != `""` {
		return m[4].Untranslatable()
	}
	if c.turn.Said() {
		c.next()
	}
	c.turn.Begin(c.at)
	from := &m[3]
	if from.Raw == nil {
		from = &m[2]
	}
	if from.Raw == nil {
		return nil
	}
	return from.Each(func(part doors.Value) error {
		var in [2]doors.Value
		if err := part.Members([]string{"type", "text"}, in[:]); err != nil {
			return err
		}
		text, err := in[1].Text()
		if len(text) > 0 {
			c.turn.Think(text)
		}
		return err
	})
}

// call adds a call to the answer.
func (c *chat) call(v *doors.Value) error {
	var m [7]doors.Value
	known := []string{"type", "call_id", "name", "arguments", "id", "status", "namespace"}
	if err := v.Members(known, m[:]); err != nil {
		return err
	}
	id, err := m[1].Needed()
	if err != nil {
		return err
	}
	name, err := called(&m[2], &m[6])
	if err != nil {
		return err
	}
	if _, err := m[3].Needed(); err != nil {
		return err
	}
	c.turn.Begin(c.at)
	c.turn.Call(id, name, m[3].Raw)
	return nil
}

// result writes what a call came to.
func (c *chat) result(v *doors.Value) error {
	var m [7]doors.Value
	known := []string{"type", "call_id", "output", "id", "status", "name", "namespace"}
	if err := v.Members(known, m[:]); err != nil {
		return err
	}
	if m[2].Raw == nil {
		return m[2].Missing()
	}
	of := &m[1]
	if of.Raw == nil && m[5].Raw != nil && m[3].Raw != nil { // an agent tells by itself what a tool of its own says
		of = &m[3]
	}
	if _, err := of.Needed(); err != nil {
		return err
	}
	c.flush()
	c.Open("tool", c.at)
	c.Set("tool_call_id", of.Raw)
	if m[5].Raw != nil {
		name, err := called(&m[5], &m[6])
		if err != nil {
			return err
		}
		c.Member("name")
		c.Out = doors.AppendRaw(c.Out, name)
	}
	c.Member("content")
	err := c.content(&m[2], false)
	c.Out = append(c.Out, '}')
	return err
}

// flush writes the answer that was put together, if there is one.
func (c *chat) flush() {
	if c.turn.Begun() {
		c.Answer(&c.turn)
	}
}
