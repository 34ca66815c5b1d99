package server

import (
	"sync"

	"octet/internal/poison"
)

// What a connection reads into, in bytes: most requests whole, and those of connections that had a larger one before.
const (
	inSize   = 20 << 10
	wideSize = 136 << 10
	mostHead = 4 << 10 // of which a head takes so much, hardly ever more
)

// Pages are used again: a connection alone holds its page, strings of heads are copies, and a body that was lent in it
// is its handler's until that returns, before which the page is not given back.
var (
	inPages   = sync.Pool{New: func() any { return new([inSize]byte) }}
	widePages = sync.Pool{New: func() any { return new([wideSize]byte) }}
)

// leastRoom is what a read may be given without what is unread being moved, in bytes.
const leastRoom = 512

// room returns the free part of buf, which is never empty, with what is unread kept.
func (c *conn) room() []byte {
	switch {
	case c.buf == nil:
		c.hold()
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

// hold takes a page: a wide one where the request before was large.
func (c *conn) hold() {
	if c.large {
		c.wide = widePages.Get().(*[wideSize]byte)
		c.buf = c.wide[:]
	} else {
		c.page = inPages.Get().(*[inSize]byte)
		c.buf = c.page[:]
	}
	c.r, c.w = 0, 0
}

// resize moves what is unread to a page of the other size, where it has room.
func (c *conn) resize(large bool) {
	unread, page, wide := c.buf[c.r:c.w], c.page, c.wide
	c.large, c.page, c.wide = large, nil, nil
	c.hold()
	c.w = copy(c.buf, unread)
	if page != nil {
		poison.Bytes(page[:])
		inPages.Put(page)
	}
	if wide != nil {
		poison.Bytes(wide[:])
		widePages.Put(wide)
	}
}

// release lets go of the buffer where nothing in it is unread or lent.
func (c *conn) release() {
	if c.buf != nil && c.r == c.w && !c.lent {
		c.dropPage()
		c.buf, c.r, c.w = nil, 0, 0
	}
}

func (c *conn) dropPage() {
	if c.page != nil {
		poison.Bytes(c.page[:])
		inPages.Put(c.page)
		c.page = nil
	}
	if c.wide != nil {
		poison.Bytes(c.wide[:])
		widePages.Put(c.wide)
		c.wide = nil
	}
}
