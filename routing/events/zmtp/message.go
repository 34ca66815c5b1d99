package zmtp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Send writes one message of at least one frame.
func (c *Conn) Send(frames ...[]byte) error {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	c.out = c.out[:0]
	for i, f := range frames {
		var flags byte
		if i < len(frames)-1 {
			flags = flagMore
		}
		c.out = appendFrame(c.out, flags, f)
	}
	return c.flush()
}

func (c *Conn) command(name string, data []byte) error {
	body := append([]byte{byte(len(name))}, name...)
	c.outMu.Lock()
	defer c.outMu.Unlock()
	c.out = appendFrame(c.out[:0], flagCommand, append(body, data...))
	return c.flush()
}

func appendFrame(b []byte, flags byte, body []byte) []byte {
	if len(body) <= math.MaxUint8 {
		b = append(b, flags, byte(len(body)))
	} else {
		b = binary.BigEndian.AppendUint64(append(b, flags|flagLong), uint64(len(body)))
	}
	return append(b, body...)
}

// flush writes out. Under outMu.
func (c *Conn) flush() error {
	if err := c.c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := c.c.Write(c.out)
	return err
}

// Receive returns the next message. Its memory is the caller's. Commands are answered where they want to be, and what
// is left of them are subscriptions, which come as the messages that they were before ZMTP 3.1: one frame, 1 or 0 and
// the prefix.
func (c *Conn) Receive() ([][]byte, error) {
	var message [][]byte
	left := c.limits.Message
	for {
		flags, body, err := c.frame(max(left, 0))
		if err != nil {
			return nil, err
		}
		if flags&flagCommand != 0 {
			if len(message) > 0 || flags&flagMore != 0 {
				return nil, fmt.Errorf("%w: a command inside a message", ErrProtocol)
			}
			subscription, err := c.obey(body)
			if err != nil || subscription != nil {
				return [][]byte{subscription}, err
			}
			continue
		}
		left -= len(body)
		if len(message) == c.limits.Frames {
			return nil, fmt.Errorf("%w: more than %d frames", ErrProtocol, c.limits.Frames)
		}
		message = append(message, body)
		if flags&flagMore == 0 {
			return message, nil
		}
	}
}

// obey carries out a command; a subscription it returns.
func (c *Conn) obey(body []byte) ([]byte, error) {
	name, rest, ok := cutCommand(body)
	if !ok {
		return nil, fmt.Errorf("%w: a command without a name", ErrProtocol)
	}
	switch name {
	case "PING":
		if len(rest) < 2 {
			return nil, fmt.Errorf("%w: a PING without its time", ErrProtocol)
		}
		return nil, c.command("PONG", rest[2:min(len(rest), 2+16)])
	case "SUBSCRIBE":
		return append([]byte{1}, rest...), nil
	case "CANCEL":
		return append([]byte{0}, rest...), nil
	case "ERROR":
		return nil, fmt.Errorf("%w: the peer refuses: %q", ErrProtocol, rest)
	}
	return nil, nil
}

// Subscribe asks a PUB for the messages whose first frame begins with prefix.
func (c *Conn) Subscribe(prefix string) error { return c.Send(append([]byte{1}, prefix...)) }

// SetReadDeadline bounds the next Receive, as of a net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.c.SetReadDeadline(t) }

// frame reads one frame of at most limit bytes; a command may always have maxCommand.
func (c *Conn) frame(limit int) (flags byte, body []byte, err error) {
	if flags, err = c.in.ReadByte(); err != nil {
		return 0, nil, err
	}
	var size uint64
	if flags&flagLong != 0 {
		var long [8]byte
		if _, err = io.ReadFull(c.in, long[:]); err != nil {
			return 0, nil, cut(err)
		}
		size = binary.BigEndian.Uint64(long[:])
	} else {
		short, err := c.in.ReadByte()
		if err != nil {
			return 0, nil, cut(err)
		}
		size = uint64(short)
	}
	if flags&flagCommand != 0 {
		limit = maxCommand
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 || size > uint64(limit) {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes with flags %#x, of at most %d", ErrProtocol, size, flags,
			limit)
	}
	body, err = c.read(int(size))
	return flags, body, err
}

const readStep = 64 << 10 // that is taken on a peer's word

// read returns the next n bytes; memory grows with what has come.
func (c *Conn) read(n int) ([]byte, error) {
	if n <= readStep {
		b := make([]byte, n)
		_, err := io.ReadFull(c.in, b)
		return b, cut(err)
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, c.in, int64(n)); err != nil {
		return nil, cut(err)
	}
	return b.Bytes(), nil
}

// cut names an end inside a frame for what it is.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
