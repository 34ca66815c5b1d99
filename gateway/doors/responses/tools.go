package responses

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// choice writes which tool is to be called.
func (c *chat) choice(choice *doors.Value) error {
	switch choice.Kind() {
	case 0:
		return nil
	case '"':
		_, err := choice.OneOf("auto", "none", "required")
		c.Set("tool_choice", choice.Raw())
		return err
	}
	if kind, err := choice.Type(); err != nil || kind.In(toolKinds[:1]) < 0 {
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

// The members of tools, by their places in toolNames.
const (
	toolType = iota
	toolName
	toolDescription
	toolParameters
	toolStrict
	toolTools // of a namespace
)

var (
	toolKinds = []string{"function", "namespace"}
	toolNames = []string{"type", "name", "description", "parameters", "strict", "tools"}
)

// What a tool of each kind may have.
var (
	functionMembers  = doors.Of(toolType, toolName, toolDescription, toolParameters, toolStrict)
	namespaceMembers = doors.Of(toolType, toolName, toolDescription, toolTools)
)

// known are functions of no namespace that came before, as they are written in chat completions.
var known wire.KnownTools

// listed reads one tool of the list, or a namespace of tools, which the client executes, and writes it.
func (c *chat) listed(cur *wire.Cursor) error {
	if made, is := known.Pass(cur); is {
		c.Out = append(doors.AppendComma(c.Out, '['), made...)
		c.plain = append(c.plain, doors.NameOf(made))
		return nil
	}
	from, o := cur.Offset(), &c.listing
	if err := o.Read(cur, toolNames); err != nil {
		return err
	}
	switch kind := o.Type(toolType); kind.In(toolKinds) {
	case 0:
		c.Out = doors.AppendComma(c.Out, '[')
		begin := len(c.Out)
		err := c.function(o, nil)
		if err == nil {
			known.Keep(cur, from, c.Out[begin:])
		}
		return err
	case 1:
		return c.namespace(o)
	default:
		return notExecuted(&kind)
	}
}

// notExecuted refuses the type of a tool that the service behind the API executes.
func notExecuted(kind *doors.Value) error {
	return kind.Refuse(wire.CodeUnsupportedParameter, "is no function: nothing here executes it")
}

// function writes one function, of a namespace if in is not nil.
func (c *chat) function(o *doors.Object, in *group) error {
	if err := o.Only(functionMembers); err != nil {
		return err
	}
	name, err := c.named(o.Member(toolName), in)
	if err != nil {
		return err
	}
	c.Function(name)
	if err := c.describe(o.Member(toolDescription), in); err != nil {
		return err
	}
	if v := o.Member(toolParameters); !v.Absent() {
		if v.Kind() != '{' {
			return v.Invalid("must be an object")
		}
		c.Set("parameters", v.Raw())
	}
	strict := o.Member(toolStrict)
	is, err := strict.Flag()
	if is {
		c.Set("strict", strict.Raw())
	}
	c.Out = append(c.Out, "}}"...)
	return err
}

// describe writes what a function does, after what its namespace is for.
func (c *chat) describe(v doors.Value, in *group) error {
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
