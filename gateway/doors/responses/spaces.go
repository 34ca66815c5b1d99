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
func (c *chat) namespace(v *doors.Value) error {
	var m [4]doors.Value
	if err := v.Members([]string{"type", "name", "description", "tools"}, m[:]); err != nil {
		return err
	}
	in := group{}
	for i, to := range [...]*[]byte{&in.space, &in.about} {
		if m[1+i].Absent() {
			continue
		}
		text, err := m[1+i].Text()
		if err != nil {
			return err
		}
		*to = text
	}
	switch {
	case m[1].Absent():
		return m[1].Missing()
	case m[3].Absent():
		return m[3].Missing()
	}
	return m[3].Each(func(tool doors.Value) error {
		kind, err := tool.Type()
		if err != nil {
			return err
		}
		if kind.In(toolKinds[:1]) < 0 {
			return notExecuted(&kind)
		}
		err = c.function(&tool, &in)
		in.about = nil
		return err
	})
}

// group is the namespace of a function that is being written: its name, and what it is for if that is not yet said.
// Both are the insides of JSON strings.
type group struct{ space, about []byte }

// named returns the name of a function in a chat completion, and notes of which namespace it is.
func (c *chat) named(v *doors.Value, in *group) ([]byte, error) {
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
