package client

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"octet/internal/http1/sock"
)

// parts is how many parts an idle timeout is waited for in, so that a stream of tokens arms no timer: Feed's strikes at
// most one part late.
const parts = 8

// Sink is what an answer is fed to. An alias: whatever has these methods is one, by any name. Either method ends the
// feed by an error, or by more being false: it wants no more for now.
type Sink = interface {
	// Take is called with each piece, never empty, which is void when the next call of either begins.
	Take(piece []byte) (more bool, err error)
	// Pause is called whenever nothing more is at hand, before a wait for the engine.
	Pause() (more bool, err error)
}

// feeding is a Response that is being fed to its sink.
type feeding struct {
	*Response
	sink  Sink
	reads int // that brought something
	ended bool
	err   error // why it ended; nil if sink wants no more
}

// Feed gives sink what next would return, one after the other. It returns nil when sink wants no more, else the first
// error: of sink; or of the body, as next does, io.EOF at its proper end. After sink has ended it, Feed may go on
// behind that piece.
//
// It is the cheap way to read a stream: one system call and no timer an event, one goroutine switch, and no buffer
// while it waits. The idle timeout may strike an eighth of itself late. sink must not use r, but for SetIdle.
func (r *Response) Feed(sink Sink) error {
	f := &r.feed
	*f = feeding{Response: r, sink: sink}
	if r.conn == nil || r.conn.lazy == nil || r.err != nil {
		return f.byNext()
	}
	if more, err := f.pour(); !more || err != nil {
		return err
	}
	r.conn.keepText()
	r.conn.rest()
	return f.wait()
}

// byNext is Feed for connections that have to be read into a buffer.
func (f *feeding) byNext() error {
	for {
		if !f.buffered() {
			if more, err := f.sink.Pause(); !more || err != nil {
				return err
			}
		}
		piece, err := f.next()
		if err != nil {
			return err
		}
		if more, err := f.sink.Take(piece); !more || err != nil {
			return err
		}
	}
}

// pour hands on what is at hand, up to the pause.
func (f *feeding) pour() (more bool, err error) {
	c := f.conn
	for {
		piece, used, err := f.frame.take(c.buf[c.r:c.w])
		c.r += used
		switch {
		case len(piece) > 0:
			if more, err = f.sink.Take(piece); !more || err != nil {
				return false, err
			}
		case err != nil:
			return false, f.fail(err)
		default:
			return f.sink.Pause()
		}
	}
}

// wait serves what comes until the feed ends. The deadline is that of a slice of the idle timeout.
func (f *feeding) wait() error {
	c, seen, silent := f.conn, f.reads, 0
	if c.hangups == nil {
		f.client.hangups.add(c)
	}
	for {
		c.armRead(now().after(f.idle / parts))
		if f.ctx.Err() != nil { // its interrupt may have come before, and be undone
			return f.fail(ended(f.ctx))
		}
		err := c.raw.Read(f.serve)
		if f.ended {
			return f.err
		}
		silent++
		if f.reads != seen {
			seen, silent = f.reads, 0
		}
		switch {
		case f.ctx.Err() != nil:
			err = ended(f.ctx)
		case !isTimeout(err):
			err = fmt.Errorf("%w: within the body: %w", ErrReset, err)
		case silent >= parts:
			err = fmt.Errorf("%w: nothing came", ErrTimeout)
		default:
			continue
		}
		return f.fail(err)
	}
}

// serve reads and hands on until there is nothing to read: false. True is the end, with f.err. A read that leaves room
// has taken all there was, and what comes next wakes the poller: it is not asked in vain. The connection's end alone
// may have come with the bytes, unnoticed; the watch then sets gone before it wakes the reader.
func (f *feeding) serve(fd uintptr) bool {
	c := f.conn
	for {
		if c.burst == nil {
			c.holdWide()
		}
		n, errno := sock.Read(fd, c.buf)
		switch {
		case errno == syscall.EAGAIN:
			c.rest()
			return false
		case errno != 0:
			f.ends(os.NewSyscallError("read", errno))
			return true
		case n == 0:
			f.ends(io.EOF)
			return true
		}
		f.reads++
		c.r, c.w = 0, n
		if more, err := f.pour(); !more || err != nil {
			f.ended, f.err = true, err
			return true
		}
		if n < len(c.buf) && c.watched && !c.gone.Load() {
			c.rest()
			return false
		}
	}
}

// ends notes how the connection ended.
func (f *feeding) ends(err error) {
	switch {
	case !errors.Is(err, io.EOF):
		err = fmt.Errorf("%w: within the body: %w", ErrReset, err)
	case f.frame.state != untilClose:
		err = fmt.Errorf("%w: within the body", ErrReset)
	}
	f.ended, f.err = true, f.fail(err)
}
