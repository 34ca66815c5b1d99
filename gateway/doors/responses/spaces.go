package responses

import (
	"bytes"

	"octet/gateway/doors"
)

// spaces are the functions of a request that stand in namespaces, by their names in the chat completion, which knows no
// namespaces: there a function's name has its namespace in front of it. All are the insides of JSON strings.
type spaces map[string]function

type function struct{ space, name []byte }

// flat returns the name that a function of a namespace has in a chat completion.
func flat(space, name []byte) []byte {
	out := append([]byte(nil), space...)
	if !bytes.HasSuffix(space, []byte("__")) {
		out = append(out, "__"...)
	}
	return append(out, name...)
}

// namespace writes the functions of a namespace. The first of them says what the namespace is for.
func (c *chat) namespace(o *doors.Object) error {
	if err := o.Only(namespaceMembers); err != nil {
		return err
	}
	in, name, about, tools := group{}, o.Member(toolName), o.Member(toolDescription), o.Member(toolTools)
	var err error
	if in.space, err = name.Needed(); err == nil && !about.Absent() {
		in.about, err = about.Text()
	}
	switch {
	case err != nil:
		return err
	case tools.Absent():
		return tools.Missing()
	case tools.Kind() != '[':
		return tools.Invalid("must be an array")
	}
	cur := tools.Again()
	return doors.Objects(&cur, &c.part, toolNames, func(tool *doors.Object) error {
		if kind := tool.Type(toolType); kind.In(toolKinds[:1]) < 0 {
			return notExecuted(&kind)
		}
		c.Out = doors.AppendComma(c.Out, '[')
		err := c.function(tool, &in)
		in.about = nil
		return err
	})
}

// group is the namespace of a function that is being written: its name, and what it is for if that is not yet said.
// Both are the insides of JSON strings.
type group struct{ space, about []byte }

// named returns the name of a function in a chat completion, and notes of which namespace it is.
func (c *chat) named(v doors.Value, in *group) ([]byte, error) {
	name, err := v.Needed()
	if err != nil {
		return nil, err
	}
	if in == nil {
		c.plain = append(c.plain, name)
		return name, nil
	}
	whole := flat(in.space, name)
	if _, taken := c.functions[string(whole)]; taken {
		return nil, v.Invalid("is a second function of this name")
	}
	if c.functions == nil {
		c.functions = spaces{}
	}
	c.functions[string(whole)] = function{bytes.Clone(in.space), bytes.Clone(name)} // they outlive the body
	return whole, nil
}

// distinct refuses functions of no namespace that are named like one of a namespace.
func (c *chat) distinct(tools *doors.Value) error {
	if c.functions == nil {
		return nil
	}
	for _, name := range c.plain {
		if _, taken := c.functions[string(name)]; taken {
			return tools.Invalid("name a function twice, one within a namespace")
		}
	}
	return nil
}

// called returns the name of a function that a call or a choice is of.
func called(name, space *doors.Value) ([]byte, error) {
	text, err := name.Needed()
	if err != nil || space.Absent() {
		return text, err
	}
	within, err := space.Text()
	return flat(within, text), err
}
