package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"octet/internal/http1/lifetime"
)

// Response is an answer whose head is here, and whose body is read by Feed. One goroutine at a time may use it; to end
// it from another, end its context.
type Response struct {
	client *Client
	conn   *conn // nil once closed
	ctx    context.Context
	watch  lifetime.Watch // over ctx
	status int
	frame  frame
	idle   time.Duration
	err    error // how the body ended; io.EOF is well
	feed   feeding
}

// Status returns the status code.
func (r *Response) Status() int { return r.status }

// Header returns a field's first value, "" when it is absent and after Close. Framing fields are found, too.
func (r *Response) Header(name string) string {
	if r.conn == nil {
		return ""
	}
	if r.conn.text == nil {
		return valueOf(r.conn.kept, name)
	}
	return valueOf(r.conn.text, name)
}

// SetIdle replaces the idle timeout from the next read on; the client's default for 0.
func (r *Response) SetIdle(d time.Duration) {
	if d <= 0 {
		d = r.client.cfg.IdleTimeout
	}
	r.idle = d
}

// next returns the next stretch of the body: never empty, at most a buffer or a chunk, valid until the next call of
// next or Close. It reads from the connection only when nothing of the body is at hand. io.EOF comes after a proper end
// and never together with bytes. After ctx has ended it is ctx's error and cause.
func (r *Response) next() ([]byte, error) {
	for r.err == nil {
		piece, used, err := r.frame.take(r.conn.unread())
		r.conn.r += used
		if len(piece) > 0 {
			return piece, nil
		}
		if err == nil {
			err = r.fill()
		}
		if err != nil {
			return nil, r.fail(err)
		}
	}
	return nil, r.err
}

// fail notes why the body has ended, and returns it as the caller knows it.
func (r *Response) fail(err error) error {
	if err != io.EOF { //nolint:errorlint // it is never wrapped here
		err = r.client.fault(err)
	}
	r.err = err
	return err
}

// buffered returns true if next will return without reading from the connection: a flush can wait for that.
func (r *Response) buffered() bool {
	if r.err != nil {
		return true
	}
	ahead := r.frame
	piece, _, err := ahead.take(r.conn.unread())
	return len(piece) > 0 || err != nil
}

// fill reads once. What was received before has been taken.
func (r *Response) fill() error {
	c := r.conn
	c.keepText()
	c.widen()
	err := c.read(r.ctx, now().after(r.idle))
	switch {
	case err == nil, errors.Is(err, ErrTimeout), r.ctx.Err() != nil:
		return err
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: within the body: %w", ErrReset, err)
	case r.frame.state == untilClose:
		return io.EOF
	}
	return fmt.Errorf("%w: within the body", ErrReset)
}

// Close frees the connection: to the pool when the whole body was received, if not by its reader then by what is at
// hand; closed otherwise. Idempotent.
func (r *Response) Close() error {
	c := r.conn
	if c == nil {
		return nil
	}
	clean := r.watch.Stop() && r.ended() && c.head.reusable() && c.r == c.w
	r.conn, r.ctx, r.watch = nil, nil, lifetime.Watch{}
	if r.err == nil {
		r.err = errClosed
	}
	if !clean {
		c.close()
		return nil
	}
	c.rest()
	r.client.pool.put(c)
	return nil
}

// ended reports whether the body came to its proper end by its own framing.
func (r *Response) ended() bool {
	if r.err == nil && r.frame.state != untilClose {
		if piece, used, err := r.frame.take(r.conn.unread()); len(piece) == 0 {
			r.conn.r += used
			if err != nil {
				_ = r.fail(err)
			}
		}
	}
	return r.frame.state != untilClose && r.err == io.EOF //nolint:errorlint // it is never wrapped here
}
