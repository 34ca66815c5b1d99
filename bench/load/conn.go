// Package load is the client: connections that send requests made beforehand, and count what comes back.
package load

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// ErrAnswer is an answer other than the one that the load is about.
var ErrAnswer = errors.New("load: not the answer that was expected")

// conn is one client connection. One goroutine uses it.
type conn struct {
	net.Conn
	buf    [16 << 10]byte
	events int  // seen so far
	newlin bool // the last byte was '\n'
	door   string
}

// dial opens a connection; over TLS its handshake is done.
func (r Requests) dial() (*conn, error) {
	c, err := net.DialTimeout("tcp", r.Addr, 5*time.Second)
	if err != nil || r.TLS == nil {
		return &conn{Conn: c}, err
	}
	over := tls.Client(c, r.TLS)
	_ = c.SetDeadline(time.Now().Add(20 * time.Second)) // a TCP connection has deadlines
	err = over.Handshake()
	if s := over.ConnectionState(); err == nil && s.CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		err = fmt.Errorf("%w: %s is spoken", ErrAnswer, tls.CipherSuiteName(s.CipherSuite))
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	_ = c.SetDeadline(time.Time{})
	return &conn{Conn: over}, nil
}

// begin sends a request and reads at least the head of its answer, whose status has to be the given one. It returns
// what came of the body.
func (c *conn) begin(request []byte, status int) (head, body []byte, err error) {
	if _, err := c.Write(request); err != nil {
		return nil, nil, err
	}
	n := 0
	for {
		k, err := c.Read(c.buf[n:])
		if err != nil {
			return nil, nil, err
		}
		n += k
		if i := bytes.Index(c.buf[:n], []byte("\r\n\r\n")); i >= 0 {
			head, body = c.buf[:i+2], c.buf[i+4:n]
			break
		}
		if n == len(c.buf) {
			return nil, nil, fmt.Errorf("%w: head too long", ErrAnswer)
		}
	}
	if got := string(head[9:12]); got != strconv.Itoa(status) {
		return nil, nil, fmt.Errorf("%w: %s, not %d: %.300q", ErrAnswer, got, status, body)
	}
	return head, body, nil
}

// ask is one whole exchange.
func (c *conn) ask(request []byte, status int) error {
	head, body, err := c.begin(request, status)
	if err != nil {
		return err
	}
	if c.door != "" && !bytes.Contains(head, []byte("X-Door: "+c.door+"\r\n")) {
		return fmt.Errorf("%w: its door is not %s", ErrAnswer, c.door)
	}
	c.door = ""
	length, counted := contentLength(head)
	if !counted {
		return c.drain(body)
	}
	for left := length - len(body); left > 0; {
		n, err := c.Read(c.buf[:min(left, len(c.buf))])
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func contentLength(head []byte) (int, bool) {
	for line := range bytes.Lines(head) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && bytes.EqualFold(name, []byte("Content-Length")) {
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			return n, err == nil
		}
	}
	return 0, false
}

var lastChunk = []byte("\r\n0\r\n\r\n")

// drain reads a chunked body to its end and counts the events in it.
func (c *conn) drain(piece []byte) error {
	var tail []byte
	for {
		c.count(piece)
		tail = append(tail, piece[max(0, len(piece)-len(lastChunk)):]...)
		tail = tail[max(0, len(tail)-len(lastChunk)):]
		if bytes.Equal(tail, lastChunk) {
			return nil
		}
		n, err := c.Read(c.buf[:])
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		piece = c.buf[:n]
	}
}

// count adds the events that end in piece: each has one empty line, and chunks' framing has none.
func (c *conn) count(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if c.newlin && piece[0] == '\n' {
		c.events++
	}
	c.events += bytes.Count(piece, []byte("\n\n"))
	c.newlin = piece[len(piece)-1] == '\n'
}
