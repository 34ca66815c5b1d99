// Package conn is the one seam between the gateway and what serves HTTP to its clients: all that it asks of a client's
// connection beyond what every http.Handler has. Of finds which of two implementations serves a request:
//
//	fast.go  our own server, internal/http1/server: everything can be had
//	std.go   net/http, or any other: what it cannot do is done by a goroutine, a copy or a deadline
//	         stream.go: the same for a stream of HTTP/2
//
// All pass the same tests (conn_test.go).
//
// How an answer goes on without its handler, and without a goroutine:
//
//	handler ──Detach──▶ goroutine ──f: false──▶ parked: TrySend only ──Resume──▶ goroutine ──f: true──▶ end
//	   │ returns false: f is to be called here          (net/http never parks)
package conn

import (
	"net/http"
	"time"

	"octet/internal/http1/server"
)

// Conn is a client's connection while one request of it is answered.
type Conn interface {
	http.ResponseWriter
	Head
	Body
	Writer
	Parker
}

// Head is the head of the request.
type Head interface {
	// Began returns when the request was at hand; zero if that is unknown.
	Began() time.Time
	// Fields returns the header without its map: names, and their values beside them. False means that it does not
	// tell all, and that the map must be read.
	Fields() (names, values []string, ok bool)
}

// Body is the body of the request.
type Body interface {
	// AtHand returns true if all of it was received, so that reading it cannot wait.
	AtHand() bool
	// Lend returns all of it where it was received, until the handler returns. False means that it is to be read.
	Lend() ([]byte, bool)
	// Interrupt has a read of it that waits fail. Any goroutine may call it while the handler runs.
	Interrupt()
	// SetReadDeadline bounds how long reads of it wait; zero means no limit. Not every transport has deadlines.
	SetReadDeadline(t time.Time) error
}

// Writer is the answer.
type Writer interface {
	// Start sends the head: the fields as they go over the wire, and those that were set in Header. length is the
	// body's; -1 means that it is unknown.
	Start(status int, length int64, lines []byte)
	// Send is Write and Flush in one; of nothing it is Flush.
	Send(p []byte) error
	// SetWriteDeadline bounds how long writes wait from now on; zero means no limit. Not every transport has deadlines.
	SetWriteDeadline(t time.Time) error
}

// Parker lets an answer go on when its handler has returned.
type Parker interface {
	// Detach has f go on with the answer when the handler has returned. f returns true when the answer is over; false
	// parks it: it stays open, and no goroutine is its own. Detach returns false if the server cannot: nothing is
	// called then.
	Detach(f func() (over bool)) bool
	// CanPark returns true if a parked answer could be sent to now.
	CanPark() bool
	// TrySend is Send that does not wait. What the socket has no room for is kept, and reported as ErrFull: the next
	// Send sends it first.
	TrySend(p []byte) error
	// Resume goes on with a parked answer by f, as Detach does.
	Resume(f func() (over bool))
}

// ErrFull means that TrySend has kept something.
var ErrFull = server.ErrFull

// Of returns the connection of a request that a handler was given as w and r.
func Of(w http.ResponseWriter, r *http.Request) Conn {
	under := Under(w)
	answer, ours := under.(*server.Answer)
	switch {
	case !ours || !answer.IsTo(r):
		if c, is := w.(Conn); is {
			return c
		}
		if r.ProtoMajor == 2 {
			return &stream{std: std{w}}
		}
		return &std{w}
	case under == w:
		return fast{answer}
	}
	return &wrapped{std: std{w}, answer: answer}
}

// Start is Writer.Start of whatever a handler was given.
func Start(w http.ResponseWriter, status int, length int64, lines []byte) {
	switch w := w.(type) {
	case *server.Answer:
		fast{w}.Start(status, length, lines)
	case Conn:
		w.Start(status, length, lines)
	default:
		start(w, status, length, lines)
	}
}

// Bare is c without what other handlers have put around it: they have seen the head, and serve other requests once the
// handler has returned.
func Bare(c Conn) Conn {
	switch c := c.(type) {
	case *wrapped:
		return fast{c.answer}
	case *std:
		return &std{Under(c.ResponseWriter)}
	case *stream:
		return &stream{std: std{Under(c.ResponseWriter)}}
	}
	return c
}

// Under returns the writer that w, and what w wraps, write to.
func Under(w http.ResponseWriter) http.ResponseWriter {
	for {
		over, wraps := w.(wrapper)
		if !wraps {
			return w
		}
		w = over.Unwrap()
	}
}

// wrapper is what a writer around another has, as http.ResponseController knows it.
type wrapper interface{ Unwrap() http.ResponseWriter }
