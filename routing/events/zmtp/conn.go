package zmtp

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// ErrProtocol is a peer that does not speak ZMTP 3, or not within the limits.
var ErrProtocol = errors.New("zmtp: protocol")

// Limits bounds what a peer may send.
type Limits struct {
	Message int // bytes of one message, all frames together
	Frames  int // of one message
}

const (
	greetingLen  = 64
	maxCommand   = 64 << 10 // bytes of one command
	handshake    = 5 * time.Second
	writeTimeout = 10 * time.Second // of one message: a peer that does not read is gone
)

const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

// Conn is one connection after its handshake.
type Conn struct {
	c      net.Conn
	in     *bufio.Reader
	limits Limits
	peer   string // socket type

	outMu sync.Mutex
	out   []byte // of one message; guarded by outMu; its memory is used again
}

// Open introduces itself on c as a socket of that kind (PUB, SUB, ROUTER, DEALER, …), whichever side has dialled. The
// peer must be of a kind that this one talks to. Close closes c; when Open fails, that is the caller's.
func Open(c net.Conn, kind string, l Limits) (*Conn, error) {
	conn := &Conn{c: c, in: bufio.NewReader(c), limits: l}
	if err := c.SetDeadline(time.Now().Add(handshake)); err != nil {
		return nil, err
	}
	if err := conn.greet(kind); err != nil {
		return nil, fmt.Errorf("zmtp: handshake: %w", err)
	}
	if !talks(kind, conn.peer) {
		return nil, fmt.Errorf("%w: a %s does not talk to a %s", ErrProtocol, kind, conn.peer)
	}
	return conn, c.SetDeadline(time.Time{})
}

func talks(kind, peer string) bool {
	switch kind {
	case "SUB":
		return peer == "PUB" || peer == "XPUB"
	case "PUB":
		return peer == "SUB" || peer == "XSUB"
	case "ROUTER":
		return peer == "DEALER" || peer == "REQ" || peer == "ROUTER"
	case "DEALER":
		return peer == "ROUTER" || peer == "REP" || peer == "DEALER"
	}
	return false
}

func (c *Conn) greet(kind string) error {
	greeting := make([]byte, greetingLen)
	greeting[0], greeting[8], greeting[9], greeting[10] = 0xff, 1, 0x7f, 3
	copy(greeting[12:], "NULL")
	if _, err := c.c.Write(greeting); err != nil {
		return err
	}
	theirs := make([]byte, greetingLen)
	if _, err := io.ReadFull(c.in, theirs); err != nil {
		return err
	}
	if theirs[0] != 0xff || theirs[9]&1 == 0 || theirs[10] < 3 {
		return fmt.Errorf("%w: greeting % x", ErrProtocol, theirs[:12])
	}
	if mechanism := string(bytes.TrimRight(theirs[12:32], "\x00")); mechanism != "NULL" {
		return fmt.Errorf("%w: mechanism %q", ErrProtocol, mechanism)
	}
	if err := c.command("READY", property("Socket-Type", kind)); err != nil {
		return err
	}
	return c.ready()
}

func property(name, value string) []byte {
	b := append([]byte{byte(len(name))}, name...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	return append(b, value...)
}

// ready reads the peer's READY for its socket type.
func (c *Conn) ready() error {
	flags, body, err := c.frame(maxCommand)
	if err != nil {
		return err
	}
	name, rest, ok := cutCommand(body)
	if flags&flagCommand == 0 || !ok || name != "READY" {
		return fmt.Errorf("%w: %q where READY was due", ErrProtocol, name)
	}
	for len(rest) > 0 {
		n := int(rest[0])
		if len(rest) < 1+n+4 {
			return fmt.Errorf("%w: a property is cut off", ErrProtocol)
		}
		key, size := rest[1:1+n], binary.BigEndian.Uint32(rest[1+n:])
		rest = rest[1+n+4:]
		if uint64(len(rest)) < uint64(size) {
			return fmt.Errorf("%w: a property is cut off", ErrProtocol)
		}
		if bytes.EqualFold(key, []byte("Socket-Type")) {
			c.peer = string(rest[:size])
		}
		rest = rest[size:]
	}
	return nil
}

func cutCommand(body []byte) (name string, rest []byte, ok bool) {
	if len(body) == 0 || len(body) < 1+int(body[0]) {
		return "", nil, false
	}
	n := 1 + int(body[0])
	return string(body[1:n]), body[n:], true
}

// Close ends the connection. A Receive that waits returns.
func (c *Conn) Close() error { return c.c.Close() }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.c.RemoteAddr() }
