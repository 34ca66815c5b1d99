package doors

import (
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// Native is an Answer whose engine speaks the door's own words. It notes what goes to the client, so that the stream
// may end, or go on, in words of ours.
type Native interface {
	sse.Dialect
	// ReadWhole reads an answer in one piece. It fails as sse.ScanUnary does.
	ReadWhole(body []byte) (sse.Unary, error)
	// Adopt has the Answer go on behind what was read, which its client has.
	Adopt()
}

// NativeOf returns what reads the answer where its engine speaks the door's own words; nil if nothing does.
func NativeOf(a Answer) Native {
	if a, ok := a.(interface{ Native() Native }); ok {
		return a.Native()
	}
	return nil
}

// Enter opens a container that begins with open; any other value is passed over.
func Enter(c *wire.Cursor, open byte) bool {
	if c.Peek() != open {
		c.Skip()
		return false
	}
	return c.Enter(open)
}

// Quoted returns what stands between the quotes of a string; nil for any other value.
func Quoted(c *wire.Cursor) []byte {
	if c.Peek() != '"' {
		c.Skip()
		return nil
	}
	return c.Quoted()
}

// Count returns a number of tokens; 0 for any other value.
func Count(c *wire.Cursor) int {
	n, _ := c.Int()
	return max(n, 0)
}

// NewReader returns a cursor over what an engine said, and false if that is no object.
func NewReader(data []byte) (c wire.Cursor, ok bool) {
	c = wire.NewCursor(data, chunkDepth)
	return c, c.Peek() == '{'
}

// ReadError reads an error object's words.
func ReadError(c *wire.Cursor) *sse.EngineError {
	e := &sse.EngineError{}
	e.Read(c)
	return e
}
