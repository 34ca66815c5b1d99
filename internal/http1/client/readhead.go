package client

import (
	"context"
	"errors"
	"fmt"
	"io"

	"octet/internal/http1/field"
)

// maxInformational bounds the 1xx answers before the real one.
const maxInformational = 8

// readHead reads the head of the final answer. A connection that ends before its first byte is a *lostError.
func (c *conn) readHead(ctx context.Context, until moment, limit int) error {
	for skipped := 0; ; skipped++ {
		end, err := c.awaitHead(ctx, until, limit)
		if err != nil {
			return c.headFailed(err, skipped)
		}
		c.text, c.kept = c.buf[c.r:c.r+end], c.kept[:0]
		c.r += end
		switch err := c.parse(c.text); {
		case err != nil || c.head.status >= 200:
			return err
		case c.head.status == 101:
			return protocolError("switched protocols unasked")
		case skipped == maxInformational:
			return protocolError("too many informational answers")
		}
	}
}

// usual is what the answers on one connection have in common.
type usual struct {
	field.Habit
	located bool // the head at hand is as the habit says, like the one before
}

// parse makes head of b. A connection that answers for the first time, and most often for the last, forms no habit.
func (c *conn) parse(b []byte) (err error) {
	u := c.usual
	switch {
	case !c.reused:
		c.head, err = parseHead(b, nil)
	case u == nil:
		c.usual = new(usual)
		c.head, err = parseHead(b, &c.usual.Habit)
	case u.located:
		err = c.head.repeat(b, &u.Habit)
	default:
		c.head, err = parseHead(b, &u.Habit)
	}
	return err
}

// keepText has the head's text outlive buf.
func (c *conn) keepText() {
	if c.text != nil {
		c.kept, c.text = append(c.kept, c.text...), nil
	}
}

// awaitHead receives until buf[r:w] holds a whole head, and returns its length.
func (c *conn) awaitHead(ctx context.Context, until moment, limit int) (int, error) {
	for seen := 0; ; {
		if c.r < c.w {
			end, err := c.headEnd(seen)
			seen = c.w - c.r
			switch {
			case err != nil:
				return 0, err
			case end > limit || end == 0 && seen >= limit:
				return 0, fmt.Errorf("%w: head over %d bytes", ErrTooLarge, limit)
			case end > 0:
				return end, nil
			}
		}
		c.makeRoom()
		if err := c.read(ctx, until); err != nil {
			return 0, err
		}
	}
}

// headEnd is headEnd of what is unread.
func (c *conn) headEnd(seen int) (int, error) {
	if u := c.usual; u != nil {
		u.located = false
		if seen == 0 {
			end := u.Locate(c.unread())
			if u.located = end > 0; u.located {
				return end, nil
			}
		}
	}
	return headEnd(c.unread(), seen)
}

// makeRoom makes the free part of buf not empty while keeping what is unread.
func (c *conn) makeRoom() {
	if c.w < len(c.buf) {
		return
	}
	buf := c.buf
	if c.r == 0 {
		buf = make([]byte, 2*len(c.buf))
	}
	c.w = copy(buf, c.buf[c.r:c.w])
	c.buf, c.r = buf, 0
}

// headFailed says what a failed read means for the answer: nothing of it had come, or a part.
func (c *conn) headFailed(err error, skipped int) error {
	var unsent *unsentError
	switch {
	case errors.Is(err, ErrProtocol), errors.Is(err, ErrTooLarge), errors.Is(err, ErrTimeout),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, errStale), errors.As(err, &unsent):
		return err
	case c.w == 0 && skipped == 0:
		return &lostError{cause: err, sent: true}
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: within the head", ErrReset)
	}
	return fmt.Errorf("%w: within the head: %w", ErrReset, err)
}
