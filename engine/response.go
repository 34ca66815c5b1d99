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
	// Feed calls piece with each piece of the body as it comes, and pause whenever nothing more is at hand and it is
	// about to wait for the engine. What piece is given is void when the next call of either begins. It returns the
	// first error: of piece or pause, whereupon Feed may be called again and goes on behind that piece; or of the body:
	// io.EOF after a proper end, ErrReset, ErrTimeout or ErrProtocol after any other.
	Feed(piece func([]byte) error, pause func() error) error

	// Carry goes on where a Feed was left by its pause, on a poll loop in place of a goroutine, and returns at once.
	// The loop calls piece and pause as Feed does, and then end, once, with what Feed would have returned; nil hands
	// the body back to Feed, after a pause. None of the three may wait. The body must not be used before end. Carry
	// returns false if no loop can serve this body: Feed is the way then.
	Carry(piece func([]byte) error, pause func() error, end func(error)) bool

	// SetIdle replaces the idle timeout from the next read on.
	SetIdle(d time.Duration)

	// Close frees the connection: back to the pool after io.EOF, closed otherwise. Idempotent.
	Close() error
}

// Panic is an error that Carry ends with if piece or pause has panicked.
type Panic interface {
	error
	Panicked() any // what it panicked with
}

// Read calls piece with each piece of a body. It returns nil after the body's proper end, else the first error of the
// body or of piece.
func Read(body Body, piece func([]byte) error) error {
	if err := body.Feed(piece, noPause); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// Next returns the next piece of a body, valid until the body is used again, or the error that ends it, as
// Feed does.
func Next(body Body) (next []byte, err error) {
	err = body.Feed(func(piece []byte) error {
		next = piece
		return errEnough
	}, noPause)
	if next != nil {
		return next, nil
	}
	return nil, err
}

// errEnough ends a Feed.
var errEnough = errors.New("engine: one piece is enough")

func noPause() error { return nil }
