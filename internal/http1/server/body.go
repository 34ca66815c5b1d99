package server

import (
	"errors"
	"io"
	"net/http"
)

// body is what follows a head, as handlers read it. The zero body, after none, is empty.
type body struct {
	c        *conn
	left     int64 // bytes still to come: of the body, or of its chunk
	chunked  bool
	inChunk  bool  // the chunk's CRLF has not been read
	excess   int64 // bytes of framing beyond what honest chunks need
	waits    bool  // the client was to be told to go on, before it sends
	expected bool  // and has not been told yet
	closed   bool  // by the handler, or because it has returned
	ended    bool  // err is io.EOF: the whole body was taken
	err      error // why there is no more; nil while there is
}

func (b *body) none()            { *b = body{c: b.c, err: io.EOF, ended: true} }
func (b *body) measured(n int64) { *b = body{c: b.c, left: n} }
func (b *body) chunks()          { *b = body{c: b.c, chunked: true} }

// whole says whether all of it was received and taken.
func (b *body) whole() bool { return b.ended }

// atHand returns true if a handler can read all of it without more bytes being received.
func (b *body) atHand() bool {
	return b.whole() || !b.chunked && !b.expected && b.left <= int64(b.c.w-b.c.r)
}

// large says whether it wants a wide page.
func (b *body) large() bool {
	return !b.chunked && b.left > inSize-mostHead && b.left < wideSize-mostHead
}

// lend gives the whole body away, as it lies in the buffer: see Answer.Lend.
func (b *body) lend() ([]byte, bool) {
	c, n := b.c, int(b.left)
	if b.closed || b.err != nil || !b.atHand() || n < len(c.buf)/4 {
		return nil, false
	}
	p := c.buf[c.r : c.r+n : c.r+n]
	c.r += n
	b.left, c.lent = 0, true
	_ = b.fail(io.EOF)
	return p, true
}

// Close makes further reads fail. What is unread is dealt with when the handler has returned.
func (b *body) Close() error {
	b.closed = true
	return nil
}

// Read waits for bytes until the read deadline. A body that ends early is io.ErrUnexpectedEOF.
func (b *body) Read(p []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.read(p)
}

func (b *body) read(p []byte) (n int, err error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.expected {
		if err := b.encourage(); err != nil {
			return 0, b.fail(err)
		}
	}
	if b.chunked {
		n, err = b.readChunk(p)
	} else {
		n, err = b.take(p)
		if err == nil && b.left == 0 {
			err = io.EOF
		}
	}
	if err != nil {
		err = b.fail(err)
	}
	return n, err
}

// take reads some of what is left: from the buffer, else from the connection straight into p.
func (b *body) take(p []byte) (n int, err error) {
	p = p[:min(int64(len(p)), b.left)]
	if c := b.c; c.r < c.w {
		n = copy(p, c.buf[c.r:c.w])
		c.r += n
		c.release()
	} else if n, err = c.receive(p); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	b.left -= int64(n)
	if n > 0 {
		err = nil // it comes again with the next read
	}
	return n, err
}

// fail records how the body ended.
func (b *body) fail(err error) error {
	b.err = err
	if b.c.peer.Load()&interrupted != 0 {
		b.c.peer.And(^interrupted) // what is read from now on is not the handler's
	}
	if b.ended = errors.Is(err, io.EOF); b.ended {
		b.c.release()
		b.c.allowHangup()
	}
	return err
}

// encourage sends 100 Continue, unless the answer has begun already.
func (b *body) encourage() error {
	b.expected = false
	if b.c.answer.wrote {
		return nil
	}
	return b.c.send([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
}

// mostUnread is how much of a body that its handler did not want is read and thrown away, for the connection's sake, in
// bytes.
const mostUnread = 256 << 10

// tooMuch says that the rest is certainly not going to be read.
func (b *body) tooMuch() bool {
	return b.waits && !b.ended || b.err != nil && !b.ended || !b.chunked && b.left >= mostUnread
}

// discard reads what the handler left, and reports whether all of it is gone.
func (b *body) discard() bool {
	if b.whole() {
		return true
	}
	if b.tooMuch() {
		return false
	}
	page := inPages.Get().(*[inSize]byte)
	defer inPages.Put(page) // nothing but discard has seen it
	for read := 0; read <= mostUnread; {
		n, err := b.read(page[:])
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		read += n
	}
	return false
}
