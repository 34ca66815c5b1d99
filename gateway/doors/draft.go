package doors

import (
	"fmt"
	"slices"
	"unsafe"

	"octet/gateway/wire"
	"octet/internal/poison"
)

// Draft is a chat completion's body while it is written, without its last brace. Members are written in the order in
// which what they are made of is read.
type Draft struct {
	Out []byte

	first  int    // where the first message begins in Out
	origin []int  // of each message, in the order in which they were written: what it was made of
	ahead  int    // messages that were written last, and stand ahead of the others
	room   []byte // of what is put ahead
}

// Messages writes the member messages, a list of what write writes.
func (d *Draft) Messages(write func() error) error {
	d.Member("messages")
	d.Out = append(d.Out, '[')
	d.first = len(d.Out)
	err := write()
	d.Out = append(d.Out, ']')
	return err
}

// Ahead puts messages that write writes ahead of the others, which were written.
func (d *Draft) Ahead(write func() error) error {
	n, end := len(d.origin), len(d.Out)
	d.Out = append(d.Out, '[')
	err := write()
	d.room = append(d.room[:0], d.Out[end+1:]...)
	d.Out = d.Out[:end]
	if d.ahead = len(d.origin) - n; d.ahead > 0 {
		if n > 0 {
			d.room = append(d.room, ',')
		}
		d.Out = slices.Insert(d.Out, d.first, d.room...)
	}
	return err
}

// Written returns how many messages were written.
func (d *Draft) Written() int { return len(d.origin) }

// Origin returns what a message was made of; false if there is no such message.
func (d *Draft) Origin(message int) (int, bool) {
	if message >= len(d.origin) {
		return 0, false
	}
	if message -= d.ahead; message < 0 {
		message += len(d.origin)
	}
	return d.origin[message], true
}

// Reset leaves nothing but room. Out is its owner's.
func (d *Draft) Reset() {
	*d = Draft{room: Room(d.room), origin: kept(d.origin)}
}

// most is how much room is kept of each kind for another request, in bytes.
const most = 256 << 10

// Room returns b, emptied, for what is written next, or nil if it has grown too large to be kept.
func Room(b []byte) []byte {
	poison.Bytes(b)
	return kept(b)
}

// kept returns s, emptied, unless it has grown too large to be kept.
func kept[T any](s []T) []T {
	if cap(s) > most/int(unsafe.Sizeof(*new(T))) {
		return nil
	}
	return s[:0]
}

// Member begins a member of the object that is being written.
func (d *Draft) Member(name string) { d.Out = AppendMember(d.Out, name) }

// Set adds a member with a value that is known to be JSON.
func (d *Draft) Set(name string, raw []byte) {
	d.Member(name)
	d.Out = append(d.Out, raw...)
}

// Pass adds a member with the string that cur comes to.
func (d *Draft) Pass(name string, cur *wire.Cursor) error {
	v := Read(cur)
	_, err := v.Text()
	d.Set(name, v.Raw())
	return err
}

// Open begins a message of a role, which is made of origin.
func (d *Draft) Open(role string, origin int) {
	d.Out = AppendComma(d.Out, '[')
	d.Out = append(append(append(d.Out, `{"role":"`...), role...), '"')
	d.origin = append(d.origin, origin)
}

// Message writes a message with a content that is known to be JSON.
func (d *Draft) Message(role string, origin int, content []byte) {
	d.Open(role, origin)
	d.Set("content", content)
	d.Out = append(d.Out, '}')
}

// Tools writes the member tools of a list, the value that cur comes to, unless nothing is written of it. tool reads an
// element, and appends what it becomes.
func (d *Draft) Tools(cur *wire.Cursor, tool func(cur *wire.Cursor) error) error {
	none := len(d.Out)
	d.Member("tools")
	d.Out = append(d.Out, '[')
	begin := len(d.Out)
	err := Each(cur, tool)
	if len(d.Out) == begin {
		d.Out = d.Out[:none]
		return err
	}
	d.Out = append(d.Out, ']')
	return err
}

// opening is what tools and choices of a tool begin with.
const opening = `{"type":"function","function":{"name":`

// Function begins what tools and choices of a tool share; name is the inside of a string.
func (d *Draft) Function(name []byte) { d.Out = AppendRaw(append(d.Out, opening...), name) }

// NameOf returns the name that Function has begun a tool with.
func NameOf(tool []byte) []byte {
	c := wire.NewCursor(tool[len(opening):], 0)
	return c.Quoted()
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
	t.Reset()
}

func (d *Draft) list(name string, elements []byte) {
	d.Member(name)
	d.Out = append(append(append(d.Out, '['), elements...), ']')
}

// MessageAt reads the path of something within a message of a chat completion: which message it is in.
func MessageAt(path string) (index int, ok bool) {
	rest := ""
	n, _ := fmt.Sscanf(path, "messages[%d]%s", &index, &rest)
	return index, n > 0 && index >= 0
}
