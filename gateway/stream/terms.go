package stream

import (
	"time"

	"octet/engine"
	"octet/gateway/doors"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/wire"
	"octet/slo"
)

// Terms are what one request asks of its answer, and what bounds it. They do not change.
type Terms struct {
	Kind       wire.Kind
	Door       doors.Answer // translates the answer for its client; nil if that is not needed
	Expendable bool         // the Gate may take the place back at any time: it is never pinned
	MaxTokens  int          // below 0 is no limit
	Most       int          // tokens of each choice that a stream's client gets; 0 is no limit: see MostOutput
	Prompts    int          // in the body
	Answers    int          // to each of them

	EventBytes    int           // of one event of an engine
	TextBytes     int           // of text that is kept to continue from
	ResponseBytes int64         // of a whole answer
	Write         time.Duration // for the client to take what is written; 0 means no limit
	Idle          time.Duration // between reads of the engine
}

// Source is the engine that brings the answer at present.
type Source struct {
	Engine   *engine.Kind
	Request  *wire.Request // what the client sent; read while the stream is opened
	Response engine.Response
	Place    *place.Place
	Shape    *sse.Answers // how the replica writes answers in one piece
	Rewriter Rewriter     // of the plan's steps
	Native   doors.Native // reads the answer, which is in the words of the client's door; nil for a chat completion
	Context  int          // of the specialist, tokens; 0 is no limit
	Board    *slo.Board
	Handed   bool // the engine did not compute the prompt
	Reasons  bool // the engine shows its model the reasoning of an answer that it is to continue
	Proved   bool // it has been seen to
	// Held reports whether steps before the answer still hold places, which keeps the stream from being parked; nil if
	// there are none.
	Held func() bool

	FirstTokenBy time.Time // the client's deadline, where that is what bounds the engine; zero if it is not
}

// Rewriter changes whole events before the client gets them. What it returns is valid until the next call.
type Rewriter interface{ Events(events []byte) []byte }

// Observer is told of an answer as it comes.
type Observer interface {
	// Head sends the head of the answer, with a body of length bytes; below 0 is unknown.
	Head(now time.Time, length int)
	// Answered says that the present engine has brought its first token.
	Answered()
	// FirstToken says that the client gets its first token.
	FirstToken(now time.Time)
	// Usage is what the present engine said that its answer took, as far as it is believed.
	Usage(u sse.Usage)
}

// Origin is where an answer's request came from.
type Origin interface {
	// Since returns the time since the request's arrival.
	Since() time.Duration
	// At returns the time at so long after the arrival.
	At(since time.Duration) time.Time
	// Left reports whether the client has closed its side.
	Left() bool
}
