package responses

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// tools writes the tools, and which of them is to be called.
func (c *chat) tools(_ *doors.Value, m *[members]doors.Value) error {
	if m[tools].Raw != nil && string(m[tools].Raw) != "[]" {
		c.member("tools")
		c.out = append(c.out, '[')
		if err := m[tools].Each(c.tool); err != nil {
			return err
		}
		c.out = append(c.out, ']')
	}
	choice := &m[toolChoice]
	switch choice.Kind() {
	case 0:
		return nil
	case '"':
		_, err := choice.OneOf("auto", "none", "required")
		c.set("tool_choice", choice.Raw)
		return err
	}
	kind, err := choice.Type()
	if err != nil || kind != "function" {
		return choice.Untranslatable()
	}
	var in [2]doors.Value
	if err := choice.Members([]string{"type", "name"}, in[:]); err != nil {
		return err
	}
	c.member("tool_choice")
	c.out, err = appendString(append(c.out, `{"type":"function","function":{"name":`...), choice, &in[1], "name", "}}")
	return err
}

var toolMembers = []string{"type", "name", "description", "parameters", "strict"}

// tool writes one tool, which the client executes.
func (c *chat) tool(v *doors.Value) error {
	kind, err := v.Type()
	if err != nil {
		return err
	}
	if kind != "function" {
		return v.Under("type").Refuse(wire.CodeUnsupportedParameter, "is no function: nothing here executes it")
	}
	var m [5]doors.Value
	if err := v.Members(toolMembers, m[:]); err != nil {
		return err
	}
	c.out = doors.AppendComma(c.out, '[')
	c.out = append(c.out, `{"type":"function","function":{"name":`...)
	if c.out, err = appendString(c.out, v, &m[1], "name", ""); err != nil {
		return err
	}
	if m[2].Raw != nil {
		if _, err := m[2].Text(); err != nil {
			return err
		}
		c.set("description", m[2].Raw)
	}
	if m[3].Raw != nil {
		if m[3].Kind() != '{' {
			return m[3].Invalid("must be an object")
		}
		c.set("parameters", m[3].Raw)
	}
	strict, err := m[4].Flag()
	if strict {
		c.set("strict", m[4].Raw)
	}
	c.out = append(c.out, "}}"...)
	return err
}
