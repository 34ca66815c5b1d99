package messages

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// calls writes the calls of an answer.
func (c *chat) calls(blocks []block) error {
	if len(blocks) == 0 {
		return nil
	}
	c.member("tool_calls")
	for i := range blocks {
		b := &blocks[i]
		id, err := needed(&b.at, &b.id, "id")
		if err != nil {
			return err
		}
		name, err := needed(&b.at, &b.name, "name")
		switch {
		case err != nil:
			return err
		case b.input.Raw == nil:
			return b.at.Missing("input")
		case b.input.Kind() != '{':
			return b.input.Invalid("must be an object")
		}
		c.out = append(c.out, "[,"[min(i, 1)])
		c.out = doors.AppendRaw(append(c.out, `{"id":`...), id)
		c.out = doors.AppendRaw(append(c.out, `,"type":"function","function":{"name":`...), name)
		c.out = append(wire.AppendQuoted(append(c.out, `,"arguments":`...), b.input.Raw), "}}"...)
	}
	c.out = append(c.out, ']')
	return nil
}

var toolMembers = []string{"name", "description", "input_schema", "type", "cache_control", "strict",
	"eager_input_streaming", "defer_loading"}

// tools writes the tools, and which of them is to be called.
func (c *chat) tools(_ *doors.Value, m *[members]doors.Value) error {
	if m[tools].Raw != nil {
		some := false
		if err := m[tools].Each(func(tool *doors.Value) error {
			if !some {
				c.member("tools")
				c.out = append(c.out, '[')
			} else {
				c.out = append(c.out, ',')
			}
			some = true
			return c.tool(tool)
		}); err != nil {
			return err
		}
		if some {
			c.out = append(c.out, ']')
		}
	}
	return c.choice(&m[toolChoice])
}

// tool writes one tool, which the client executes. Tools that a provider executes are refused.
func (c *chat) tool(v *doors.Value) error {
	if kind, err := kindOf(v); err == nil && kind != "custom" {
		return v.Under("type").Refuse(wire.CodeUnsupportedParameter,
			"is no tool of the client's: nothing here executes it")
	}
	var m [8]doors.Value
	if err := v.Members(toolMembers, m[:]); err != nil {
		return err
	}
	name, err := needed(v, &m[0], "name")
	if err != nil {
		return err
	}
	c.out = doors.AppendRaw(append(c.out, `{"type":"function","function":{"name":`...), name)
	if m[1].Raw != nil {
		if _, err := m[1].Text(); err != nil {
			return err
		}
		c.set("description", m[1].Raw)
	}
	switch m[2].Kind() {
	case '{':
		c.set("parameters", m[2].Raw)
	case 0:
		return v.Missing("input_schema")
	default:
		return m[2].Invalid("must be an object")
	}
	if strict, err := m[5].Flag(); err != nil || strict {
		if err != nil {
			return err
		}
		c.set("strict", m[5].Raw)
	}
	c.out = append(c.out, "}}"...)
	return unwritten(&m[4], &m[6], &m[7])
}

// unwritten checks what of a tool a chat completion does not say. Arguments are streamed as they come, eager or not.
func unwritten(cache, eager, deferred *doors.Value) error {
	if err := cacheControl(cache); err != nil {
		return err
	}
	if _, err := eager.Flag(); err != nil {
		return err
	}
	if later, err := deferred.Flag(); err != nil || later {
		return deferred.Untranslatable()
	}
	return nil
}

// choice writes which tool is to be called.
func (c *chat) choice(v *doors.Value) error {
	if v.Raw == nil {
		return nil
	}
	var m [3]doors.Value
	if err := v.Members([]string{"type", "name", "disable_parallel_tool_use"}, m[:]); err != nil {
		return err
	}
	kind, err := m[0].OneOf("auto", "any", "tool", "none")
	if err != nil {
		return err
	}
	switch kind {
	case "any":
		c.set("tool_choice", []byte(`"required"`))
	case "tool":
		name, err := needed(v, &m[1], "name")
		if err != nil {
			return err
		}
		c.member("tool_choice")
		c.out = doors.AppendRaw(append(c.out, `{"type":"function","function":{"name":`...), name)
		c.out = append(c.out, "}}"...)
	default:
		c.set("tool_choice", m[0].Raw)
	}
	one, err := m[2].Flag()
	if one {
		c.set("parallel_tool_calls", []byte("false"))
	}
	return err
}
