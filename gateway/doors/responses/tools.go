package responses

import (
	"bytes"

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
		if err := c.distinct(&m[tools]); err != nil {
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
	var in [3]doors.Value
	if err := choice.Members([]string{"type", "name", "namespace"}, in[:]); err != nil {
		return err
	}
	name, err := called(choice, &in[1], &in[2])
	c.member("tool_choice")
	c.out = append(append(append(c.out, `{"type":"function","function":{"name":`...), name...), "}}"...)
	return err
}

var toolMembers = []string{"type", "name", "description", "parameters", "strict"}

// tool writes one tool, or a namespace of tools, which the client executes.
func (c *chat) tool(v *doors.Value) error {
	kind, err := v.Type()
	switch {
	case err != nil:
		return err
	case kind == "namespace":
		return c.namespace(v)
	case kind != "function":
		return notExecuted(v)
	}
	return c.function(v, nil)
}

// notExecuted refuses a tool that the service behind the API executes.
func notExecuted(v *doors.Value) error {
	return v.Under("type").Refuse(wire.CodeUnsupportedParameter, "is no function: nothing here executes it")
}

// function writes one function, of a namespace if in is not nil.
func (c *chat) function(v *doors.Value, in *group) error {
	var m [5]doors.Value
	if err := v.Members(toolMembers, m[:]); err != nil {
		return err
	}
	name, err := c.named(v, &m[1], in)
	if err != nil {
		return err
	}
	c.out = doors.AppendComma(c.out, '[')
	c.out = append(append(c.out, `{"type":"function","function":{"name":`...), name...)
	if err := c.describe(&m[2], in); err != nil {
		return err
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

// describe writes what a function does, after what its namespace is for.
func (c *chat) describe(v *doors.Value, in *group) error {
	var about, text []byte
	if in != nil {
		about = in.about
	}
	if v.Raw != nil {
		var err error
		if text, err = v.Text(); err != nil {
			return err
		}
	}
	if about != nil && text != nil {
		about = append(bytes.Clone(about), `\n\n`...)
	}
	if about != nil || text != nil {
		c.set("description", doors.AppendRaw(nil, append(bytes.Clone(about), text...)))
	}
	return nil
}
