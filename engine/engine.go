package engine

import (
	"context"
	"errors"
	"time"
)

// Sentinels that callers branch on. A wrapped cause is for people.
var (
	// nothing of the request reached the engine: safe to try elsewhere
	ErrConnect = errors.New("engine: cannot connect")
	// this process or host lacks descriptors, ports or memory: the replica has no part in it
	ErrLocal    = errors.New("engine: no means to connect")
	ErrReset    = errors.New("engine: connection lost")      // the engine went away after the request was sent
	ErrProtocol = errors.New("engine: protocol violated")    // what came back is not HTTP, or not what was promised
	ErrTimeout  = errors.New("engine: no answer in time")    // header or idle timeout
	ErrTooLarge = errors.New("engine: response over limits") // header block larger than allowed
)

// Request is one HTTP exchange with a replica.
type Request struct {
	Method    string
	Path      string
	Segments  [][]byte // the body, in pieces that are written with one system call; never modified
	RequestID string   // sent as X-Request-Id when not empty
	Stream    bool     // Accept: text/event-stream
	Bearer    string   // sent as Authorization when not empty; the client's own is never forwarded
	Fields    []Field  // further header fields: ours, and of the client's those that the configuration names

	// about now, where the caller has looked at the clock (time.Now): HeaderTimeout counts from it. Zero is unknown
	At            time.Time
	HeaderTimeout time.Duration // until the response head; 0 is the client's default
	IdleTimeout   time.Duration // between reads of the body; 0 is the client's default

	// Again is asked whether the request may be sent once more where a kept connection was lost with it, so that the
	// engine may have begun to work on it. A nil Again: always.
	Again func() bool
}

// Via is the header in which gateways say that a request has come through them.
const Via = "X-Octet-Via"

// Field is one header field. It is a name for a type that clients have, so that fields are handed on as they are.
type Field = struct{ Name, Value string }

// Client talks to one replica. Safe for concurrent use; ctx ends an exchange at once, mid-read too.
type Client interface {
	Do(ctx context.Context, r *Request) (Response, error)
	Close() error
}
