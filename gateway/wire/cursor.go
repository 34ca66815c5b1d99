package wire

import "math"

// Cursor reads one JSON text from left to right, strictly by RFC 8259. The first fault sticks and every later call sees
// the end of the text, so a reader may run through and ask End once. Not safe for concurrent use.
//
//	c.Enter('{')
//	for name, ok := c.Key(); ok; name, ok = c.Key() {
//		c.Skip()
//	}
type Cursor struct {
	b     []byte
	whole *[]byte // b, for values that are to be read again; nil if none are
	i     int
	room  int  // containers that may still be opened
	fresh bool // nothing of the innermost container has been read
	// white space, or a string whose wording is another, was passed since this was set to false
	untidy bool
	lax    bool    // UTF-8 and lone surrogates are not judged
	keys   *keySet // nil where members may repeat
	named  int     // where the last member name begins
	hash   uint64  // hashOf the last member name
	arena  []byte  // plain forms of escaped strings; cap >= len(b) once in use, so it never moves
	fault  fault
}

// fault is the first offence against the grammar; its code is empty while there was no offence.
type fault struct {
	code, what string
	at         int
}

// NewCursor reads b with at most depth nested containers. It lets repeated members, invalid UTF-8 and lone surrogates
// pass: it is for what an engine said, which is relayed and not judged.
func NewCursor(b []byte, depth int) Cursor {
	c := Cursor{b: b, room: depth, lax: true}
	if len(b) > math.MaxInt32 {
		c.tooLarge()
	}
	return c
}

func (c *Cursor) start(b []byte, depth int) {
	c.b, c.i, c.room, c.fresh = b, 0, depth, false
	c.fault = fault{} // by itself: a copy of what is written just now waits for it
	c.arena = c.arena[:0]
	if len(b) > math.MaxInt32 {
		c.tooLarge()
	}
}

func (c *Cursor) tooLarge() { c.fail(CodeInvalidJSON, 0, "larger than 2 GiB") }

// Offset is the index of the next byte to read.
func (c *Cursor) Offset() int { return c.i }

// Sound returns true as long as there was no fault.
func (c *Cursor) Sound() bool { return c.fault.code == "" }

// Text is what is read, of the Cursors of Judge and Again.
func (c *Cursor) Text() *[]byte { return c.whole }

// Peek skips white space and returns the first byte of what comes next, 0 at the end of the text.
func (c *Cursor) Peek() byte {
	if c.i < len(c.b) && c.b[c.i] > ' ' {
		return c.b[c.i]
	}
	return c.peekPastSpace()
}

func (c *Cursor) peekPastSpace() byte {
	for ; c.i < len(c.b); c.i++ {
		switch ch := c.b[c.i]; ch {
		case ' ', '\t', '\n', '\r':
			c.untidy = true
		default:
			return ch
		}
	}
	return 0
}

// Enter opens the container that begins with open, '{' or '['. Read it to its end with Key or More.
func (c *Cursor) Enter(open byte) bool {
	if c.Peek() != open {
		c.unexpected()
		return false
	}
	if c.room == 0 {
		c.fail(CodeTooDeep, c.i, "containers are nested too deep")
		return false
	}
	c.room--
	c.i++
	c.fresh = true
	return true
}

// More moves to the next element of the open array, false at its end.
func (c *Cursor) More() bool { return c.next(']') }

// next moves to the next item of the innermost container; at its end it consumes end and returns false.
func (c *Cursor) next(end byte) bool {
	fresh := c.fresh
	c.fresh = false
	switch ch := c.Peek(); {
	case ch == end:
		c.leave(end)
		return false
	case fresh:
		return true
	case ch == ',':
		c.i++
		c.Peek()
		return true
	}
	c.unexpected()
	return false
}

func (c *Cursor) leave(end byte) {
	c.i++
	if end == '}' && c.keys != nil {
		c.keys.leave(c.room)
	}
	c.room++
}

// Skip reads one value of any kind.
func (c *Cursor) Skip() {
	switch c.Peek() {
	case '"':
		c.text()
	case '{', '[':
		c.skipContainer()
	case 't':
		c.word("true")
	case 'f':
		c.word("false")
	case 'n':
		c.word("null")
	default:
		c.number()
	}
}

func (c *Cursor) skipContainer() {
	if c.b[c.i] == '[' {
		for c.Enter('['); c.More(); {
			c.Skip()
		}
		return
	}
	c.Enter('{')
	for name, ok := c.name(); ok; name, ok = c.name() {
		if c.keys == nil || c.once(name) {
			c.Skip()
		}
	}
}

// Value reads one value of any kind, and returns where it begins and how it stands.
func (c *Cursor) Value() (at int, raw []byte) {
	c.Peek()
	at = c.i
	c.Skip()
	return at, c.b[at:c.i:c.i]
}

// Null reads null and nothing else.
func (c *Cursor) Null() bool { return c.Peek() == 'n' && c.word("null") }

// Quoted reads a string and returns what stands between its quotes, escapes as they are; anything else is a fault.
func (c *Cursor) Quoted() []byte {
	c.Peek()
	return c.bytes(c.text())
}

// End reports whether the text was read to its end without a fault.
func (c *Cursor) End() bool {
	if c.fault.code == "" && c.Peek() != 0 || c.i < len(c.b) {
		c.unexpected()
	}
	return c.fault.code == ""
}

func (c *Cursor) word(w string) bool {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		c.unexpected()
		return false
	}
	c.i += len(w)
	return true
}

//go:noinline
func (c *Cursor) unexpected() {
	if c.i >= len(c.b) {
		c.fail(CodeInvalidJSON, len(c.b), "unexpected end")
		return
	}
	c.fail(CodeInvalidJSON, c.i, "unexpected byte")
}

//go:noinline
func (c *Cursor) fail(code string, at int, what string) {
	if c.fault.code == "" {
		c.fault = fault{code, what, at}
	}
	c.i = len(c.b)
}
