package front

import "sync"

// inSize is what a connection reads into, in bytes: most requests whole.
const inSize = 20 << 10

var inPages = sync.Pool{New: func() any { return new([inSize]byte) }}

// leastRoom is what a read may be given without what is unread being moved, in bytes.
const leastRoom = 512

// room returns the free part of buf, which is never empty, with what is unread kept.
func (c *conn) room() []byte {
	switch {
	case c.buf == nil:
		c.page = inPages.Get().(*[inSize]byte)
		c.buf, c.r, c.w = c.page[:], 0, 0
	case c.r == c.w:
		c.r, c.w = 0, 0
	case len(c.buf)-c.w >= leastRoom || c.w < len(c.buf) && c.r == 0:
	case c.r > 0:
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	default:
		larger := make([]byte, 2*len(c.buf))
		c.w = copy(larger, c.buf)
		c.dropPage()
		c.buf = larger
	}
	return c.buf[c.w:]
}

// release lets go of the buffer where nothing in it is unread.
func (c *conn) release() {
	if c.buf != nil && c.r == c.w {
		c.dropPage()
		c.buf, c.r, c.w = nil, 0, 0
	}
}

func (c *conn) dropPage() {
	if c.page != nil {
		inPages.Put(c.page)
		c.page = nil
	}
}
