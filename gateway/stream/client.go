package stream

import (
	"errors"
	"io"
	"time"
)

// Client is the client's side of an answer.
type Client interface {
	io.Writer
	// Send is Write and Flush in one.
	Send(p []byte) error
	// SetWriteDeadline bounds the writes that follow. Not every transport has deadlines.
	SetWriteDeadline(t time.Time) error
}

// Parker is a client's connection that can do without a goroutine: see conn.Parker.
type Parker interface {
	CanPark() bool
	TrySend(p []byte) error
	Resume(f func() (over bool))
}

// Why a stream ended, beside the errors of package engine.
var (
	// ErrSlowClient says that the client did not read within write_timeout.
	ErrSlowClient = errors.New("the client does not read")
	// ErrFirstToken says that the client's deadline for the first token has passed.
	ErrFirstToken = errors.New("the first token's deadline has passed")
)
