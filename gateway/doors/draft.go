package doors

// Draft is a chat completion's body while it is written, without its last brace.
type Draft struct {
	Out    []byte
	Origin []int // of each message: what it was made of
}

// Member begins a member of the object that is being written.
func (d *Draft) Member(name string) { d.Out = AppendMember(d.Out, name) }

// Set adds a member with a value that is known to be JSON.
func (d *Draft) Set(name string, raw []byte) {
	d.Member(name)
	d.Out = append(d.Out, raw...)
}

// Open begins a message of a role, which is made of origin.
func (d *Draft) Open(role string, origin int) {
	d.Out = AppendComma(d.Out, '[')
	d.Out = append(append(append(d.Out, `{"role":"`...), role...), '"')
	d.Origin = append(d.Origin, origin)
}

// Message writes a message with a content that is known to be JSON.
func (d *Draft) Message(role string, origin int, content []byte) {
	d.Open(role, origin)
	d.Set("content", content)
	d.Out = append(d.Out, '}')
}

// Function begins what tools and choices of a tool share; name is the inside of a string.
func (d *Draft) Function(name []byte) {
	d.Out = AppendRaw(append(d.Out, `{"type":"function","function":{"name":`...), name)
}

// Answer writes a turn as a message, and empties it.
func (d *Draft) Answer(t *Turn) {
	d.Open("assistant", t.from)
	if t.reasoned {
		d.Member("reasoning_content")
		d.Out = AppendRaw(d.Out, t.thoughts)
	}
	switch {
	case t.text != nil:
		d.Set("content", t.text)
	case t.Said():
		d.list("content", t.parts)
	case !t.Called():
		d.Set("content", []byte(`""`))
	}
	if t.Called() {
		d.list("tool_calls", t.calls)
	}
	d.Out = append(d.Out, '}')
	*t = Turn{thoughts: t.thoughts[:0], parts: t.parts[:0], calls: t.calls[:0]}
}

func (d *Draft) list(name string, elements []byte) {
	d.Member(name)
	d.Out = append(append(append(d.Out, '['), elements...), ']')
}
