package server

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Strict is a connection for net/http's server on which it hears whole heads alone, of requests that a Server of this
// package would take: what that refuses, two framings for one, never gets there. In its place comes a request that
// Refused knows, once what was asked before is answered, and then the end. A body that is malformed ends in an error.
type Strict struct {
	net.Conn
	c       *conn // whose parser reads the heads, and nothing else of it
	out     []byte
	body    int64 // bytes of a body still to come
	chunks  *chunkScan
	over    error // what comes after out
	bad     *Refused
	stand   string      // the target of the request that stands for what was refused
	aborted atomic.Bool // the read deadline is net/http's way to have a read return
}

// NewStrict returns nc as Strict, with the bounds of heads as a Server has them.
func NewStrict(nc net.Conn, maxHeaderBytes, maxFields int) *Strict {
	return &Strict{Conn: nc, c: newConn(&Server{MaxHeaderBytes: maxHeaderBytes, MaxFields: maxFields}, nc)}
}

// Refused returns why the request was refused that one of this connection stands for; false if it stands for none.
func (s *Strict) Refused(target string) (why Refused, refused bool) {
	if s.bad == nil || target != s.stand {
		return Refused{}, false
	}
	return *s.bad, true
}

// CloseWrite closes the sending side, where that can be done alone.
func (s *Strict) CloseWrite() error {
	if half, ok := s.Conn.(halfCloser); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SetReadDeadline sets a deadline. One long past is net/http's way to have a read return, and no client's fault.
func (s *Strict) SetReadDeadline(t time.Time) error {
	s.aborted.Store(!t.IsZero() && t.Unix() <= 1)
	return s.Conn.SetReadDeadline(t)
}

// Read hands out the rest of a head, or of a body.
func (s *Strict) Read(p []byte) (int, error) {
	for len(p) > 0 {
		switch {
		case len(s.out) > 0:
			n := copy(p, s.out)
			s.out = s.out[n:]
			return n, nil
		case s.over != nil:
			return 0, s.over
		case s.body > 0 || s.chunks != nil:
			return s.readBody(p)
		}
		if err := s.readHead(); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// readHead receives until there is something to hand out, or an error to return.
func (s *Strict) readHead() error {
	c := s.c
	for {
		if c.r < c.w {
			from := c.r
			c.skipEmptyLines()
			from = max(from, c.r)
			whole, bad := c.readHead()
			switch {
			case bad != nil:
				s.refuse(bad, c.buf[from:c.w])
				return nil
			case whole:
				s.hear(c.buf[from:c.r])
				return nil
			}
		}
		if err := s.fill(); err != nil {
			return s.cutShort(err)
		}
	}
}

// hear hands out a head, with what follows it as its body.
func (s *Strict) hear(head []byte) {
	s.out = bytes.Clone(head)
	b := &s.c.body
	switch {
	case b.chunked:
		s.chunks = new(chunkScan)
	case !b.whole():
		s.body = b.left
	}
	s.c.release()
}

func (s *Strict) fill() error {
	n, err := s.Conn.Read(s.c.room())
	s.c.w += n
	if n > 0 {
		return nil // an error comes again with the next read
	}
	return err
}

// cutShort is as a conn's: half a head is told why it is one.
func (s *Strict) cutShort(err error) error {
	switch {
	case s.c.r == s.c.w || s.aborted.Load():
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.refuse(errHeadLate, s.c.buf[s.c.r:s.c.w])
	case errors.Is(err, io.EOF):
		s.refuse(errHeadCut, s.c.buf[s.c.r:s.c.w])
	default:
		return err
	}
	return nil
}

// refuse hands out a request that stands for the one that is refused, and the end.
func (s *Strict) refuse(bad *refusal, received []byte) {
	s.stand = "/" + rand.Text()
	s.out = []byte("GET " + s.stand + " HTTP/1.1\r\nHost: refused\r\nConnection: close\r\n\r\n")
	s.bad, s.over = &Refused{Status: bad.status, Text: bad.text, Target: targetOf(received)}, io.EOF
}

func (s *Strict) readBody(p []byte) (int, error) {
	c := s.c
	if c.r == c.w {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	b := c.buf[c.r:c.w]
	b = b[:min(len(b), len(p))]
	switch {
	case s.chunks != nil:
		n, ended, ok := s.chunks.take(b)
		if b = b[:n]; !ok {
			s.over = io.ErrUnexpectedEOF
			return 0, s.over
		}
		if ended {
			s.chunks = nil
		}
	default:
		b = b[:min(int64(len(b)), s.body)]
		s.body -= int64(len(b))
	}
	copy(p, b)
	c.r += len(b)
	c.release()
	return len(b), nil
}

// chunkScan finds the end of a body in chunks.
type chunkScan struct {
	state  uint8
	size   int64
	digits int
	length int // of the line, or of all trailers
}

const (
	inSizeOfChunk = iota
	inExtension
	atSizeEnd // CR has come
	inChunk
	atChunkCR
	atChunkLF
	atTrailer // a line begins
	inTrailer
	atTrailerEnd
	atEnd // the last CR has come
)

// mostChunkLine bounds what is not data between two chunks, in bytes.
const mostChunkLine = 4 << 10

// take looks at the next bytes, and returns how many of them are the body's, and whether it ends with them; ok is that
// they can be.
func (k *chunkScan) take(b []byte) (n int, ended, ok bool) {
	for n < len(b) {
		if k.state == inChunk {
			skip := min(k.size, int64(len(b)-n))
			k.size -= skip
			n += int(skip)
			if k.size == 0 {
				k.state = atChunkCR
			}
			continue
		}
		if k.length++; !k.step(b[n]) || k.length > mostChunkLine {
			return n, false, false
		}
		n++
		if k.state == atEnd && b[n-1] == '\n' {
			return n, true, true
		}
	}
	return n, false, true
}

// step takes a byte that is no data's.
func (k *chunkScan) step(c byte) bool {
	switch k.state {
	case inSizeOfChunk:
		return k.sizeByte(c)
	case inExtension:
		if c == '\r' {
			k.state = atSizeEnd
		}
		return c != '\n'
	case atSizeEnd:
		last := k.size == 0
		if k.state = inChunk; last {
			k.state = atTrailer
		}
		k.digits, k.length = 0, 0
		return c == '\n'
	case atChunkCR:
		k.state = atChunkLF
		return c == '\r'
	case atChunkLF:
		k.state, k.length = inSizeOfChunk, 0
		return c == '\n'
	case atTrailer, inTrailer:
		switch {
		case c != '\r':
			k.state = inTrailer
		case k.state == atTrailer:
			k.state = atEnd
		default:
			k.state = atTrailerEnd
		}
		return c != '\n'
	case atTrailerEnd:
		k.state = atTrailer
		return c == '\n'
	}
	return c == '\n' // atEnd
}

func (k *chunkScan) sizeByte(c byte) bool {
	digit := int64(-1)
	switch {
	case '0' <= c && c <= '9':
		digit = int64(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		digit = int64(c|0x20-'a') + 10
	case c == '\r':
		k.state = atSizeEnd
		return k.digits > 0
	case c == ';':
		k.state = inExtension
		return k.digits > 0
	}
	if k.digits == 0 {
		k.size = 0
	}
	k.digits++
	k.size = k.size<<4 | digit
	return digit >= 0 && k.digits <= 15
}
