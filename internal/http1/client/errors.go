package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// Sentinels that callers branch on. A wrapped cause is for people. Their texts carry no prefix: the caller's Fault adds
// its own.
var (
	// ErrConfig means that a Config cannot be served.
	ErrConfig = errors.New("unusable configuration")
	// ErrRequest means that a request cannot be put on the wire as it is. Nothing was sent.
	ErrRequest = errors.New("request cannot be sent")
	// ErrConnect means that nothing of the request reached the server: it is safe to try elsewhere.
	ErrConnect = errors.New("cannot connect")
	// ErrLocal means that this process or host lacks descriptors, ports or memory: the server has no part in it.
	ErrLocal = errors.New("no means to connect")
	// ErrReset means that the server went away after the request was sent.
	ErrReset = errors.New("connection lost")
	// ErrProtocol means that what came back is not HTTP, or not what was promised.
	ErrProtocol = errors.New("protocol violated")
	// ErrTimeout is a header or idle timeout.
	ErrTimeout = errors.New("no answer in time")
	// ErrTooLarge is a head or a trailer over its limit.
	ErrTooLarge = errors.New("response over limits")
)

var errClosed = errors.New("response is closed")

// shortages are failures of a system call for want of something that this process or its host has run out of.
var shortages = [...]error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM}

// isLocal reports whether err tells of this process or its host, and of no replica.
func isLocal(err error) bool {
	return slices.ContainsFunc(shortages[:], func(shortage error) bool { return errors.Is(err, shortage) })
}

// lostError is a connection that ended before any byte of an answer: ErrReset, or ErrConnect when nothing was sent
// either; ErrLocal where the replica had no part in it.
type lostError struct {
	cause error
	sent  bool // part of the request at least was written
}

func (e *lostError) kind() error {
	switch {
	case isLocal(e.cause):
		return ErrLocal
	case e.sent:
		return ErrReset
	}
	return ErrConnect
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
func protocolError(what string) error { return fmt.Errorf("%w: %s", ErrProtocol, what) }
