// Package doors is what the surfaces beside OpenAI's chat completions have in common. A door is a translator: the body
// of its request becomes a chat completion's, and the answer's chunks become its events. All between is one line.
//
//	body ──▶ Door.Chat ──▶ chat body ──▶ the line of a request ──▶ chunks, or a completion ──▶ Answer ──▶ client
//	                                       └ an error ──▶ Door.AppendError, or Answer.Failure once a stream has begun
//	body ──▶ an engine that serves the door ──▶ its events, or its answer ──▶ Native reads along ──▶ client
//
// Invariants:
//
//  1. A door translates all that a body holds, or refuses it with the path of what it cannot translate. null is absent.
//  2. What a door writes is at most a small multiple of what it read.
//  3. Strings pass as they stand, escapes included: they are not decoded, and not encoded again.
//  4. A stream has exactly one end: Answer.Done, Answer.Failure or the last event of an engine that serves the door.
//     Nothing of the door follows on it.
//  5. Doors do no I/O and know no clock. A Door is safe for concurrent use, an Answer is one request's.
package doors

import (
	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/wire"
)

// Door translates one surface to and from chat completions.
type Door interface {
	// Chat appends to dst the chat completion that body asks for, of at most depth nested containers. The error is a
	// *wire.Error, in the door's own words.
	Chat(dst, body []byte, depth int) (Chat, error)
	// Param returns the path in the door's body of what stands at a path in the chat completion that it became. Without
	// the body, which is nil then, a path within messages stays as it is.
	Param(body []byte, path string) string
	// Served returns the surface, as engines may serve it.
	Served() engine.Doors
	// AppendError appends the body of an answer that is an error.
	AppendError(dst []byte, e *apierr.Error, requestID string) []byte
}

// Chat is what a door's body has become.
type Chat struct {
	Body   []byte       // a chat completion's
	Sent   wire.Outline // of the body that it was made of
	Answer Answer
}

// Answer translates the answer to one request. What its methods return is valid until the next call.
type Answer interface {
	// Events returns what the client gets for whole events of a chat completion's stream.
	Events(events []byte) ([]byte, error)
	// Done returns the end of a stream that is complete.
	Done() []byte
	// Failure returns the last event of a stream that broke.
	Failure(e *apierr.Error, requestID string) []byte
	// Whole returns what the client gets for a chat completion in one piece.
	Whole(body []byte) ([]byte, error)
}
