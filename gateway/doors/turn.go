package doors

// Turn is an answer of the history while it is put together. A chat completion has its reasoning, its text and its
// calls in one message, beside each other: their order is lost, and nothing else.
type Turn struct {
	begun, reasoned bool
	from            int    // what it is made of: the first of several
	thoughts        []byte // the inside of a string
	text            []byte // the content, a string, while that is all of it
	parts, calls    []byte // the insides of lists
}

// Reset leaves nothing but room.
func (t *Turn) Reset() {
	*t = Turn{thoughts: Room(t.thoughts), parts: Room(t.parts), calls: Room(t.calls)}
}

// Begun returns true if the turn has something, be it empty.
func (t *Turn) Begun() bool { return t.begun }

// Said returns true if the turn has text.
func (t *Turn) Said() bool { return t.text != nil || len(t.parts) > 0 }

// Called returns true if the turn has calls.
func (t *Turn) Called() bool { return len(t.calls) > 0 }

// Begin notes what the turn is made of, unless it has begun.
func (t *Turn) Begin(from int) {
	if !t.begun {
		t.begun, t.from = true, from
	}
}

// Think adds reasoning, the inside of a string.
func (t *Turn) Think(inside []byte) {
	t.reasoned = true
	t.thoughts = append(t.thoughts, inside...)
}

// Say adds a text, a JSON string, which must stay as it is until the turn is written.
func (t *Turn) Say(text []byte) {
	if !t.Said() {
		t.text = text
		return
	}
	t.listed()
	t.parts = AppendText(append(t.parts, ','), text)
}

// SayParts adds parts of a content, with commas between them.
func (t *Turn) SayParts(parts []byte) {
	t.listed()
	if len(t.parts) > 0 {
		t.parts = append(t.parts, ',')
	}
	t.parts = append(t.parts, parts...)
}

// listed makes a content that is a string a list of parts.
func (t *Turn) listed() {
	if t.text != nil {
		t.parts, t.text = AppendText(t.parts, t.text), nil
	}
}

// Call adds a call of a function: the insides of its id and its name, and its arguments, a JSON string.
func (t *Turn) Call(id, name, arguments []byte) {
	if len(t.calls) > 0 {
		t.calls = append(t.calls, ',')
	}
	t.calls = AppendRaw(append(t.calls, `{"id":`...), id)
	t.calls = AppendRaw(append(t.calls, `,"type":"function","function":{"name":`...), name)
	t.calls = append(append(append(t.calls, `,"arguments":`...), arguments...), "}}"...)
}

// AppendText appends a part of a content that is a text, a JSON string.
func AppendText(dst, text []byte) []byte {
	return append(append(append(dst, `{"type":"text","text":`...), text...), '}')
}
