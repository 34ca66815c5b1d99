package messages

import (
	"bytes"

	"octet/gateway/doors"
	"octet/gateway/wire"
)

// The members of a tool, by their places in toolNames.
const (
	toolName = iota
	toolDescription
	toolSchema
	toolType
	toolCache
	toolStrict
	toolEager
	toolDeferred
)

var toolNames = []string{"name", "description", "input_schema", "type", "cache_control", "strict",
	"eager_input_streaming", "defer_loading"}

// known are tools that came before, as they are written in chat completions.
var known wire.KnownTools

// listed reads one tool of the list, and writes it.
func (c *chat) listed(cur *wire.Cursor) error {
	c.Out = doors.AppendComma(c.Out, '[')
	if made, is := known.Pass(cur); is {
		c.Out = append(c.Out, made...)
		c.strict()
		return nil
	}
	from, begin := cur.Offset(), len(c.Out)
	err := c.block.Read(cur, toolNames)
	if err == nil {
		err = c.tool(&c.block)
	}
	if err == nil {
		known.Keep(cur, from, c.Out[begin:])
		c.strict()
	}
	return err
}

// isStrict is how a tool ends whose arguments are to keep to its schema.
var isStrict = []byte(`,"strict":true}}`)

// strict notes whether the tool that was written last is strict.
func (c *chat) strict() { c.particular = c.particular || bytes.HasSuffix(c.Out, isStrict) }

// tool writes one tool, which the client executes. Tools that a provider executes are refused.
func (c *chat) tool(t *doors.Object) error {
	if kind := t.Type(toolType); !kind.Absent() && kind.In([]string{"custom"}) < 0 {
		return t.Under("type").Refuse(wire.CodeUnsupportedParameter,
			"is no tool of the client's: nothing here executes it")
	}
	if err := t.Only(doors.All); err != nil {
		return err
	}
	called, description, schema := t.Member(toolName), t.Member(toolDescription), t.Member(toolSchema)
	name, err := called.Needed()
	if err != nil {
		return err
	}
	c.Function(name)
	if !description.Absent() {
		if _, err := description.Text(); err != nil {
			return err
		}
		c.Set("description", description.Raw())
	}
	switch schema.Kind() {
	case '{':
		c.Set("parameters", schema.Raw())
	case 0:
		return schema.Missing()
	default:
		return schema.Invalid("must be an object")
	}
	strict := t.Member(toolStrict)
	if is, err := strict.Flag(); err != nil || is {
		if err != nil {
			return err
		}
		c.Set("strict", strict.Raw())
	}
	c.Out = append(c.Out, "}}"...)
	return unwritten(t)
}

// unwritten checks what of a tool a chat completion does not say. Arguments are streamed as they come, eager or not.
func unwritten(t *doors.Object) error {
	eager, deferred := t.Member(toolEager), t.Member(toolDeferred)
	if err := cacheControl(t.Member(toolCache)); err != nil {
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
	if v.Absent() {
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
		c.Set("tool_choice", m[0].Raw())
	}
	one, err := m[2].Flag()
	if one {
		c.particular = true
		c.Set("parallel_tool_calls", []byte("false"))
	}
	return err
}
