package responses

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// turn is an answer that is put together of the items which it was told as: reasoning, text and calls, in this order.
type turn struct {
	from int // its first item
	thoughts, texts,
	calls []byte // the inside of a string; the parts of a content; calls; each without what encloses it
}

func (t *turn) empty() bool { return t.thoughts == nil && t.texts == nil && t.calls == nil }

// prompt writes what the model reads first.
func (c *chat) prompt(v *doors.Value, m *[members]doors.Value) error {
	if m[model].Raw != nil {
		if _, err := m[model].Text(); err != nil {
			return err
		}
		c.set("model", m[model].Raw)
	}
	if m[input].Raw == nil {
		return v.Missing(names[input])
	}
	c.member("messages")
	c.out = append(c.out, '[')
	if m[instructions].Raw != nil {
		if _, err := m[instructions].Text(); err != nil {
			return err
		}
		c.message("system", m[instructions].Raw)
	}
	c.at = 0
	if m[input].Kind() == '"' {
		c.message("user", m[input].Raw)
		c.out = append(c.out, ']')
		return nil
	}
	last := doors.Value{}
	err := m[input].Each(func(item *doors.Value) error {
		last = *item
		err := c.item(item)
		c.at++
		return err
	})
	switch {
	case err != nil:
		return err
	case !c.turn.empty():
		return last.Refuse(wire.CodeUnsupportedParameter, "ends with the beginning of an answer, "+
			"which cannot be translated to a chat completion")
	case len(c.origin) == 0:
		return m[input].Invalid("must hold at least one item")
	}
	c.out = append(c.out, ']')
	return nil
}

// message writes one message with a content that is known to be JSON.
func (c *chat) message(role string, content []byte) {
	c.open(role, c.at)
	c.set("content", content)
	c.out = append(c.out, '}')
}

func (c *chat) open(role string, from int) {
	c.out = doors.AppendComma(c.out, '[')
	c.out = append(append(append(c.out, `{"role":"`...), role...), '"')
	c.origin = append(c.origin, from)
}

// item writes one item of the input, or adds it to the answer that is being put together.
func (c *chat) item(v *doors.Value) error {
	kind, err := v.Type()
	if err != nil {
		return err
	}
	switch kind {
	case "", "message":
		return c.said(v)
	case "reasoning":
		return c.thought(v)
	case "function_call":
		return c.call(v)
	case "function_call_output":
		return c.result(v)
	}
	return v.Under("type").Untranslatable()
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
		return v.Missing("content")
	}
	parts, err := contentOf(&m[2], role == "assistant")
	if err != nil {
		return err
	}
	if role == "assistant" {
		if c.turn.texts != nil || c.turn.calls != nil {
			c.flush()
		}
		c.begin()
		c.turn.texts = parts
		return nil
	}
	c.flush()
	c.message(role, parts)
	return nil
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
	if !c.turn.empty() {
		c.flush()
	}
	c.begin()
	c.turn.thoughts = []byte{}
	from := &m[3]
	if from.Raw == nil {
		from = &m[2]
	}
	if from.Raw == nil {
		return nil
	}
	return from.Each(func(part *doors.Value) error {
		var in [2]doors.Value
		if err := part.Members([]string{"type", "text"}, in[:]); err != nil {
			return err
		}
		text, err := in[1].Text()
		c.turn.thoughts = append(c.turn.thoughts, text...)
		return err
	})
}

// call adds a call to the answer.
func (c *chat) call(v *doors.Value) (err error) {
	var m [7]doors.Value
	known := []string{"type", "call_id", "name", "arguments", "id", "status", "namespace"}
	if err := v.Members(known, m[:]); err != nil {
		return err
	}
	c.begin()
	out := c.turn.calls
	if out != nil {
		out = append(out, ',')
	}
	out = append(out, `{"id":`...)
	if out, err = appendString(out, v, &m[1], "call_id", `,"type":"function","function":{`); err != nil {
		return err
	}
	name, err := called(v, &m[2], &m[6])
	if err != nil {
		return err
	}
	out = append(append(append(out, `"name":`...), name...), `,"arguments":`...)
	c.turn.calls, err = appendString(out, v, &m[3], "arguments", "}}")
	return err
}

// result writes what a call came to.
func (c *chat) result(v *doors.Value) error {
	var m [5]doors.Value
	if err := v.Members([]string{"type", "call_id", "output", "id", "status"}, m[:]); err != nil {
		return err
	}
	if m[2].Raw == nil {
		return v.Missing("output")
	}
	content, err := contentOf(&m[2], false)
	if err != nil {
		return err
	}
	c.flush()
	c.open("tool", c.at)
	c.member("tool_call_id")
	if c.out, err = appendString(c.out, v, &m[1], "call_id", ""); err != nil {
		return err
	}
	c.set("content", content)
	c.out = append(c.out, '}')
	return nil
}

// begin notes the first item of an answer.
func (c *chat) begin() {
	if c.turn.empty() {
		c.turn.from = c.at
	}
}

// flush writes the answer that was put together, if there is one.
func (c *chat) flush() {
	t := &c.turn
	if t.empty() {
		return
	}
	c.open("assistant", t.from)
	if len(t.thoughts) > 0 {
		c.set("reasoning_content", doors.AppendRaw(nil, t.thoughts))
	}
	switch {
	case t.texts != nil:
		c.set("content", t.texts)
	case t.calls == nil:
		c.set("content", []byte(`""`))
	}
	if t.calls != nil {
		c.member("tool_calls")
		c.out = append(append(append(c.out, '['), t.calls...), ']')
	}
	c.out = append(c.out, '}')
	*t = turn{}
}
