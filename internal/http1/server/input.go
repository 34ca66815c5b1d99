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

// input is what a connection has received and not yet taken. It holds no memory while that is nothing.
type input struct {
	page  *[inSize]byte   // from the pool; nil while nothing is held
	wide  *[wideSize]byte // likewise; one of both at most
	buf   []byte          // page, wide, or larger when a head was
	r, w  int             // buf[r:w] is received and not yet taken
	large bool            // the last request was longer than a page
	lent  bool            // what is taken of buf is its handler's until it returns
	full  bool            // the last read left no room: there may be more
}

// leastRoom is what a read may be given without what is unread being moved, in bytes.
const leastRoom = 512

// room returns the free part of buf, which is never empty, with what is unread kept.
func (in *input) room() []byte {
	switch {
	case in.buf == nil:
		in.hold()
	case in.r == in.w:
		in.r, in.w = 0, 0
	case len(in.buf)-in.w >= leastRoom || in.w < len(in.buf) && in.r == 0:
	case in.r > 0:
		in.w = copy(in.buf, in.buf[in.r:in.w])
		in.r = 0
	default:
		larger := make([]byte, 2*len(in.buf))
		in.w = copy(larger, in.buf)
		in.dropPage()
		in.buf = larger
	}
	return in.buf[in.w:]
}

// hold takes a page: a wide one where the request before was large.
func (in *input) hold() {
	if in.large {
		in.wide = widePages.Get().(*[wideSize]byte)
		in.buf = in.wide[:]
	} else {
		in.page = inPages.Get().(*[inSize]byte)
		in.buf = in.page[:]
	}
	in.r, in.w = 0, 0
}

// resize moves what is unread to a page of the other size, where it has room.
func (in *input) resize(large bool) {
	unread, page, wide := in.buf[in.r:in.w], in.page, in.wide
	in.large, in.page, in.wide = large, nil, nil
	in.hold()
	in.w = copy(in.buf, unread)
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
func (in *input) release() {
	if in.buf != nil && in.r == in.w && !in.lent {
		in.dropPage()
		in.buf, in.r, in.w = nil, 0, 0
	}
}

func (in *input) dropPage() {
	if in.page != nil {
		poison.Bytes(in.page[:])
		inPages.Put(in.page)
		in.page = nil
	}
	if in.wide != nil {
		poison.Bytes(in.wide[:])
		widePages.Put(in.wide)
		in.wide = nil
	}
}
