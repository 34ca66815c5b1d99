package engine

import (
	"errors"
	"io"
	"time"
)

// Response is an answer: its head is here, and its body is read once, by one goroutine at a time.
type Response interface {
	Head
	Body
}

// Head is the head of an answer.
type Head interface {
	Status() int
	Header(name string) string // first value, canonical or not; "" when absent, and after Close
}

// Body is the body of an answer.
type Body interface {
	// Feed gives sink each piece of the body as it comes. It returns nil when sink wants no more, else the first error:
	// of sink, or of the body: io.EOF after a proper end, ErrReset, ErrTimeout or ErrProtocol after any other. After
	// sink has ended it, Feed may be called again and goes on behind that piece.
	Feed(sink Sink) error

	// Carry goes on where a Feed was left by its sink's Pause, on a poll loop in place of a goroutine, and returns at
	// once. The loop feeds sink, and then calls end, once, with what Feed would have returned; nil also hands the body
	// back to Feed, after a Pause. Neither sink nor end may wait. The body must not be used before end. Carry returns
	// false if no loop can serve this body: Feed is the way then.
	Carry(sink Sink, end func(error)) bool

	// SetIdle replaces the idle timeout from the next read on.
	SetIdle(d time.Duration)

	// Close frees the connection: back to the pool after io.EOF, closed otherwise. Idempotent.
	Close() error
}

// Sink is what a body is fed to. It is an alias, so that a transport that knows nothing of this package can take one.
// Either method ends the feed by an error, or by more being false: it wants no more for now.
type Sink = interface {
	// Take is called with each piece, which is void when the next call of either begins.
	Take(piece []byte) (more bool, err error)
	// Pause is called whenever nothing more is at hand, before a wait for the engine.
	Pause() (more bool, err error)
}

// Panic is an error that Carry ends with if its sink has panicked.
type Panic interface {
	error
	Panicked() any // what it panicked with
}

// Each is a Sink that is called with each piece, and does nothing while the engine is waited for.
type Each func(piece []byte) error

// Take implements Sink.
func (f Each) Take(piece []byte) (more bool, err error) { return true, f(piece) }

// Pause implements Sink.
func (Each) Pause() (more bool, err error) { return true, nil }

// Read gives sink all of a body. It returns nil after the body's proper end, else the first error of the body or of
// sink.
func Read(body Body, sink Sink) error {
	if err := body.Feed(sink); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// Next returns the next piece of a body, valid until the body is used again, or the error that ends it, as Feed does.
func Next(body Body) (next []byte, err error) {
	var one single
	err = body.Feed(&one)
	return one.piece, err
}

// single is a Sink that wants one piece.
type single struct{ piece []byte }

// Take implements Sink.
func (s *single) Take(piece []byte) (more bool, err error) {
	s.piece = piece
	return false, nil
}

// Pause implements Sink.
func (*single) Pause() (more bool, err error) { return true, nil }
