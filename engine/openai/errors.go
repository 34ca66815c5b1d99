package openai

import (
	"context"
	"errors"
	"fmt"
	"os"

	"octet/engine"
)

// ErrRequest means that a request cannot be put on the wire as it is. Nothing was sent.
var ErrRequest = errors.New("openai: request cannot be sent")

var errClosed = errors.New("openai: response is closed")

// lostError is a connection that ended before any byte of an answer: ErrReset, or ErrConnect when nothing was sent either.
type lostError struct {
	cause error
	sent  bool // part of the request at least was written
}

func (e *lostError) kind() error {
	if e.sent {
		return engine.ErrReset
	}
	return engine.ErrConnect
}

func (e *lostError) Error() string   { return fmt.Sprintf("%v before any answer: %v", e.kind(), e.cause) }
func (e *lostError) Unwrap() []error { return []error{e.kind(), e.cause} }

// ended is why ctx ended: errors.Is finds context.Canceled or DeadlineExceeded in it, and the cause that was given.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// protocolError is ErrProtocol with what was wrong. It never quotes what the engine sent.
func protocolError(what string) error { return fmt.Errorf("%w: %s", engine.ErrProtocol, what) }
