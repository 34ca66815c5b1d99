package responses

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// prompt judges the input as a whole, writes one that is a text, and puts the instructions ahead of items if they came
// behind.
func (c *chat) prompt(m *[members]doors.Value) error {
	switch kind := m[input].Kind(); {
	case kind == 0:
		return m[input].Missing()
	case kind != '"' && kind != '[':
		return m[input].Invalid("must be an array")
	case c.turn.Begun():
		return c.one.Refuse(wire.CodeUnsupportedParameter, "ends with the beginning of an answer, "+
			"which cannot be translated to a chat completion")
	}
	var err error
	switch {
	case m[input].Kind() == '"':
		err = c.Messages(func() error { return c.question(m) })
	case !c.instructed: // which are ahead of the items
		err = c.Ahead(c.instruct)
	}
	if err == nil && c.Written() == 0 {
		err = m[input].Invalid("must hold at least one item")
	}
	return err
}

// question writes an input that is one text.
func (c *chat) question(m *[members]doors.Value) error {
	err := c.instruct()
	c.Message("user", 0, m[input].Raw())
	return err
}

// instruct writes the instructions, if they have come.
func (c *chat) instruct() error {
	v := &c.sent[instructions]
	if c.instructed = !v.Absent(); !c.instructed {
		return nil
	}
	_, err := v.Text()
	c.Message("system", -1, v.Raw())
	return err
}

// The members of items, by their places in itemNames.
const (
	ofType = iota
	ofRole
	ofContent
	ofID
	ofStatus
	ofPhase
	ofSummary
	ofSealed
	ofCall
	ofName
	ofArguments
	ofSpace
	ofOutput
)

var itemNames = []string{"type", "role", "content", "id", "status", "phase", "summary", "encrypted_content",
	"call_id", "name", "arguments", "namespace", "output"}

// What an item of each kind may have.
var (
	saidMembers    = doors.Of(ofType, ofRole, ofContent, ofID, ofStatus, ofPhase)
	thoughtMembers = doors.Of(ofType, ofID, ofSummary, ofContent, ofSealed, ofStatus)
	callMembers    = doors.Of(ofType, ofCall, ofName, ofArguments, ofID, ofStatus, ofSpace)
	resultMembers  = doors.Of(ofType, ofCall, ofOutput, ofID, ofStatus, ofName, ofSpace)
)

var thoughtPart = []string{"type", "text"}

// kinds are the types of items that chat completions know.
var kinds = []string{"message", "reasoning", "function_call", "function_call_output"}

// items reads the items of a list, and writes them as messages behind the instructions, if these have come.
func (c *chat) items(cur *wire.Cursor) error {
	if err := c.instruct(); err != nil {
		return err
	}
	return doors.Objects(cur, &c.one, itemNames, func(o *doors.Object) error {
		err := c.item(o)
		c.at++
		return err
	})
}

// item writes one item of the input, or adds it to the answer that is being put together.
func (c *chat) item(o *doors.Object) error {
	kind := o.Type(ofType)
	if kind.Absent() {
		return c.said(o)
	}
	switch kind.In(kinds) {
	case 0:
		return c.said(o)
	case 1:
		return c.thought(o)
	case 2:
		return c.call(o)
	case 3:
		return c.result(o)
	}
	return kind.Untranslatable()
}

// said writes a message.
func (c *chat) said(o *doors.Object) error {
	if err := o.Only(saidMembers); err != nil {
		return err
	}
	by, content := o.Member(ofRole), o.Member(ofContent)
	role, err := by.OneOf("user", "system", "developer", "assistant")
	if err != nil {
		return err
	}
	if content.Absent() {
		return content.Missing()
	}
	if role != "assistant" {
		c.flush()
		c.Open(role, c.at)
		c.Member("content")
		if err := c.content(&content, false); err != nil {
			return err
		}
		c.Out = append(c.Out, '}')
		return nil
	}
	if c.turn.Said() {
		c.next()
	}
	c.turn.Begin(c.at)
	if content.Kind() == '"' {
		c.turn.Say(content.Raw())
		return nil
	}
	c.parts, err = c.appendParts(c.parts[:0], &content, true)
	c.turn.SayParts(c.parts)
	return err
}

// next begins another answer, unless the one that is being put together has calls: what stands between these and their
// results would part them.
func (c *chat) next() {
	if !c.turn.Called() {
		c.flush()
	}
}

// thought adds reasoning to the answer. What only another provider can read is refused.
func (c *chat) thought(o *doors.Object) error {
	if err := o.Only(thoughtMembers); err != nil {
		return err
	}
	if sealed := o.Member(ofSealed); !sealed.Absent() && string(sealed.Raw()) != `""` {
		return sealed.Untranslatable()
	}
	if c.turn.Said() {
		c.next()
	}
	c.turn.Begin(c.at)
	from := o.Member(ofContent)
	if from.Absent() || none(&from) {
		from = o.Member(ofSummary)
	}
	if from.Absent() {
		return nil
	}
	return from.Each(func(part doors.Value) error {
		var in [2]doors.Value
		if err := part.Members(thoughtPart, in[:]); err != nil {
			return err
		}
		text, err := in[1].Text()
		if len(text) > 0 {
			c.turn.Think(text)
		}
		return err
	})
}

// call adds a call to the answer.
func (c *chat) call(o *doors.Object) error {
	if err := o.Only(callMembers); err != nil {
		return err
	}
	of, function, space, arguments := o.Member(ofCall), o.Member(ofName), o.Member(ofSpace), o.Member(ofArguments)
	id, err := of.Needed()
	if err != nil {
		return err
	}
	name, err := called(&function, &space)
	if err != nil {
		return err
	}
	if _, err := arguments.Needed(); err != nil {
		return err
	}
	c.turn.Begin(c.at)
	c.turn.Call(id, name, arguments.Raw())
	return nil
}

// result writes what a call came to.
func (c *chat) result(o *doors.Object) error {
	if err := o.Only(resultMembers); err != nil {
		return err
	}
	output, of, id := o.Member(ofOutput), o.Member(ofCall), o.Member(ofID)
	function, space := o.Member(ofName), o.Member(ofSpace)
	if output.Absent() {
		return output.Missing()
	}
	if of.Absent() && !function.Absent() && !id.Absent() { // an agent tells by itself what a tool of its own says
		of = id
	}
	if _, err := of.Needed(); err != nil {
		return err
	}
	c.flush()
	c.Open("tool", c.at)
	c.Set("tool_call_id", of.Raw())
	if !function.Absent() {
		name, err := called(&function, &space)
		if err != nil {
			return err
		}
		c.Member("name")
		c.Out = doors.AppendRaw(c.Out, name)
	}
	c.Member("content")
	var err error
	if none(&output) { // a tool may have nothing to say
		c.Out = append(c.Out, `""`...)
	} else {
		err = c.content(&output, false)
	}
	c.Out = append(c.Out, '}')
	return err
}

// none returns true if a value is a list of nothing.
func none(v *doors.Value) bool { return string(v.Raw()) == "[]" }

// flush writes the answer that was put together, if there is one.
func (c *chat) flush() {
	if c.turn.Begun() {
		c.Answer(&c.turn)
	}
}
