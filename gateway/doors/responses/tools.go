package responses

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// tools writes the tools, and which of them is to be called.
func (c *chat) tools(m *[members]doors.Value) error {
	if !m[tools].Absent() && string(m[tools].Raw()) != "[]" {
		c.Member("tools")
		c.Out = append(c.Out, '[')
		if err := m[tools].Each(c.tool); err != nil {
			return err
		}
		if err := c.distinct(&m[tools]); err != nil {
			return err
		}
		c.Out = append(c.Out, ']')
	}
	choice := &m[toolChoice]
	switch choice.Kind() {
	case 0:
		return nil
	case '"':
		_, err := choice.OneOf("auto", "none", "required")
		c.Set("tool_choice", choice.Raw())
		return err
	}
	if kind, err := choice.Type(); err != nil || kind.In([]string{"function"}) < 0 {
		return choice.Untranslatable()
	}
	var in [3]doors.Value
	if err := choice.Members([]string{"type", "name", "namespace"}, in[:]); err != nil {
		return err
	}
	name, err := called(&in[1], &in[2])
	c.Member("tool_choice")
	c.Function(name)
	c.Out = append(c.Out, "}}"...)
	return err
}

var (
	toolKinds   = []string{"function", "namespace"}
	toolMembers = []string{"type", "name", "description", "parameters", "strict"}
)

// tool writes one tool, or a namespace of tools, which the client executes.
func (c *chat) tool(v doors.Value) error {
	kind, err := v.Type()
	if err != nil {
		return err
	}
	switch kind.In(toolKinds) {
	case 0:
		return c.function(&v, nil)
	case 1:
		return c.namespace(&v)
	}
	return notExecuted(&kind)
}

// notExecuted refuses the type of a tool that the service behind the API executes.
func notExecuted(kind *doors.Value) error {
	return kind.Refuse(wire.CodeUnsupportedParameter, "is no function: nothing here executes it")
}

// function writes one function, of a namespace if in is not nil.
func (c *chat) function(v *doors.Value, in *group) error {
	var m [5]doors.Value
	if err := v.Members(toolMembers, m[:]); err != nil {
		return err
	}
	name, err := c.named(&m[1], in)
	if err != nil {
		return err
	}
	c.Out = doors.AppendComma(c.Out, '[')
	c.Function(name)
	if err := c.describe(&m[2], in); err != nil {
		return err
	}
	if !m[3].Absent() {
		if m[3].Kind() != '{' {
			return m[3].Invalid("must be an object")
		}
		c.Set("parameters", m[3].Raw())
	}
	strict, err := m[4].Flag()
	if strict {
		c.Set("strict", m[4].Raw())
	}
	c.Out = append(c.Out, "}}"...)
	return err
}

// describe writes what a function does, after what its namespace is for.
func (c *chat) describe(v *doors.Value, in *group) error {
	var about, text []byte
	if in != nil {
		about = in.about
	}
	if !v.Absent() {
		var err error
		if text, err = v.Text(); err != nil {
			return err
		}
	}
	if about == nil && text == nil {
		return nil
	}
	c.Member("description")
	c.Out = append(append(c.Out, '"'), about...)
	if about != nil && text != nil {
		c.Out = append(c.Out, `\n\n`...)
	}
	c.Out = append(append(c.Out, text...), '"')
	return nil
}
