package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"octet/engine"
	"octet/internal/field"
)

// maxInformational bounds the 1xx answers before the real one.
const maxInformational = 8

// readHead reads the head of the final answer. A connection that ends before its first byte is a *lostError.
func (c *conn) readHead(ctx context.Context, until time.Time, limit int) (head, error) {
	for skipped := 0; ; skipped++ {
		end, err := c.awaitHead(ctx, until, limit)
		if err != nil {
			return head{}, c.headFailed(err, skipped)
		}
		h, err := c.parse(c.buf[c.r : c.r+end])
		c.r += end
		switch {
		case err != nil || h.status >= 200:
			return h, err
		case h.status == 101:
			return head{}, protocolError("switched protocols unasked")
		case skipped == maxInformational:
			return head{}, protocolError("too many informational answers")
		}
	}
}

// usual is what the answers on one connection have in common.
type usual struct {
	field.Habit
	before  head // of the last answer, like which the next is if it is as the habit says
	located bool // as is the head at hand
}

// parse reads the head b. A connection that answers for the first time, and most often for the last, forms no habit.
func (c *conn) parse(b []byte) (h head, err error) {
	c.text = append(c.text[:0], b...)
	u := c.usual
	switch {
	case c.idleSince.IsZero():
		return parseHead(b, nil)
	case u == nil:
		u = new(usual)
		c.usual = u
		h, err = parseHead(b, &u.Habit)
	case u.located:
		h, err = repeatHead(b, &u.Habit, u.before)
	default:
		h, err = parseHead(b, &u.Habit)
	}
	u.before = h
	return h, err
}

// awaitHead receives until buf[r:w] holds a whole head, and returns its length.
func (c *conn) awaitHead(ctx context.Context, until time.Time, limit int) (int, error) {
	for seen := 0; ; {
		end, err := c.headEnd(seen)
		seen = c.w - c.r
		switch {
		case err != nil:
			return 0, err
		case end > limit || end == 0 && seen >= limit:
			return 0, fmt.Errorf("%w: head over %d bytes", engine.ErrTooLarge, limit)
		case end > 0:
			return end, nil
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
	case errors.Is(err, engine.ErrProtocol), errors.Is(err, engine.ErrTooLarge), errors.Is(err, engine.ErrTimeout),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, errStale), errors.As(err, &unsent):
		return err
	case c.w == 0 && skipped == 0:
		return &lostError{cause: err, sent: true}
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: within the head", engine.ErrReset)
	}
	return fmt.Errorf("%w: within the head: %w", engine.ErrReset, err)
}
