package messages

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

var toolMembers = []string{"name", "description", "input_schema", "type", "cache_control", "strict",
	"eager_input_streaming", "defer_loading"}

// tools writes the tools, and which of them is to be called.
func (c *chat) tools(m *[members]doors.Value) error {
	if m[tools].Raw != nil {
		some := false
		if err := m[tools].Each(func(tool doors.Value) error {
			if !some {
				some = true
				c.Member("tools")
				c.Out = append(c.Out, '[')
			}
			return c.tool(&tool)
		}); err != nil {
			return err
		}
		if some {
			c.Out = append(c.Out, ']')
		}
	}
	return c.choice(&m[toolChoice])
}

// tool writes one tool, which the client executes. Tools that a provider executes are refused.
func (c *chat) tool(v *doors.Value) error {
	if kind, err := v.Type(); err == nil && kind.Raw != nil && kind.In([]string{"custom"}) < 0 {
		return v.Under("type").Refuse(wire.CodeUnsupportedParameter,
			"is no tool of the client's: nothing here executes it")
	}
	var m [8]doors.Value
	if err := v.Members(toolMembers, m[:]); err != nil {
		return err
	}
	name, err := m[0].Needed()
	if err != nil {
		return err
	}
	c.Out = doors.AppendComma(c.Out, '[')
	c.Function(name)
	if m[1].Raw != nil {
		if _, err := m[1].Text(); err != nil {
			return err
		}
		c.Set("description", m[1].Raw)
	}
	switch m[2].Kind() {
	case '{':
		c.Set("parameters", m[2].Raw)
	case 0:
		return m[2].Missing()
	default:
		return m[2].Invalid("must be an object")
	}
	if strict, err := m[5].Flag(); err != nil || strict {
		if err != nil {
			return err
		}
		c.Set("strict", m[5].Raw)
	}
	c.Out = append(c.Out, "}}"...)
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
		c.Set("tool_choice", []byte(`"required"`))
	case "tool":
		name, err := m[1].Needed()
		if err != nil {
			return err
		}
		c.Member("tool_choice")
		c.Function(name)
		c.Out = append(c.Out, "}}"...)
	default:
		c.Set("tool_choice", m[0].Raw)
	}
	one, err := m[2].Flag()
	if one {
		c.Set("parallel_tool_calls", []byte("false"))
	}
	return err
}
