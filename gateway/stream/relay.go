package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"octet/engine"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/wire"
	"octet/slo"
)

// DoneEvent ends every stream that is complete.
var DoneEvent = []byte("data: [DONE]\n\n")

// Terms are what one request asks of its answer, and what bounds it. They do not change.
type Terms struct {
	Kind      wire.Kind
	MaxTokens int // below 0 is no limit
	Most      int // tokens of each choice that a stream's client gets; 0 is no limit: see MostOutput
	Prompts   int // in the body
	Answers   int // to each of them

	Expendable bool // the Gate may take the place back at any time: it is never pinned

	EventBytes    int   // of one event of an engine
	TextBytes     int   // of text that is kept to continue from
	ResponseBytes int64 // of a whole answer
	Write, Idle   time.Duration
}

// Source is the engine that brings the answer at present.
type Source struct {
	Engine   *engine.Kind
	Request  *wire.Request // what the client sent; read while the stream is opened
	Response engine.Response
	Place    *place.Place
	Shape    *sse.Answers // how the replica writes answers in one piece
	Rewriter Rewriter     // of the plan's steps
	Context  int          // of the specialist, tokens; 0 is no limit
	Board    *slo.Board
	Handed   bool // the engine did not compute the prompt
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

// Relay carries one answer from the engines that bring it to its client.
type Relay struct {
	Terms
	Source
	Transcript Transcript
	Cont       *Continuation // nil if the answer cannot be continued

	client   Client
	parker   Parker // nil before the handler has returned, and once the stream cannot be parked
	origin   Origin
	observer Observer

	scanner sse.Scanner
	norm    *Normalizer
	gaps    slo.Gaps
	out     Outbox
	body    *[]byte // of an answer in one piece; nil before it is read

	begun     bool // the head is out
	heard     bool // the client has something of the present engine's answer
	delivered int  // tokens that the client has
	usage     sse.Usage
	finish    string
	ended     time.Duration // since the arrival; 0 is not timed

	quiet      int           // small reads that are still needed before the stream is parked again
	came       time.Duration // from arrival until the events at hand came; 0 is not known yet
	wrote      time.Duration // until those before came
	writeArmed time.Duration // until when the deadline of writes need not be set anew
}

// Init makes r the Relay of a request's answer.
func (r *Relay) Init(client Client, origin Origin, observer Observer) {
	r.client, r.origin, r.observer = client, origin, observer
}

// Detach says that the answer goes on without its handler: it is sent to client, and may be parked.
func (r *Relay) Detach(client Client, parker Parker) { r.client, r.parker = client, parker }

// Open takes up an engine's event stream and reads until the client has the first byte of it.
func (r *Relay) Open(src Source) error {
	r.Source = src
	r.scan()
	if !r.begun {
		r.gaps.Reset(src.Board)
	}
	r.heard = false
	r.norm = Normalize(src.Request, r.Kind, src.Engine, r.begun, r.norm)
	for !r.heard {
		if err := r.hurry(); err != nil {
			return err
		}
		if err := r.step(); err != nil {
			return err
		}
		if r.scanner.Done() && !r.begun {
			return fmt.Errorf("%w: the stream ended before its first event", engine.ErrProtocol)
		}
		r.heard = r.begun && (!r.Cont.Later() || r.scanner.FirstToken() || r.scanner.Done())
	}
	return nil
}

// scan makes the scanner ready for the present engine's answer.
func (r *Relay) scan() {
	o := sse.Options{MaxEvent: r.EventBytes}
	if r.Cont != nil {
		r.Cont.Begin(&o, r.TextBytes)
	}
	r.Transcript.Begin(&o, r.begun)
	r.Cont.Scanning(&o, r.Request, r.Kind, r.Engine, r.Most)
	r.scanner.Reset(o)
}

// hurry bounds the next read by what is left of the client's first-token deadline, where that bounds the engine.
func (r *Relay) hurry() error {
	if r.FirstTokenBy.IsZero() || r.delivered > 0 {
		return nil
	}
	left := r.FirstTokenBy.Sub(r.now())
	if left <= 0 {
		return ErrFirstToken
	}
	r.Response.SetIdle(left)
	return nil
}

// Late says that the first-token deadline passed where the time that ran out was what was left of it.
func (r *Relay) Late(by time.Time, err error) error {
	if !by.IsZero() && r.delivered == 0 && errors.Is(err, engine.ErrTimeout) {
		return ErrFirstToken
	}
	return err
}

func (r *Relay) now() time.Time { return r.origin.At(r.origin.Since()) }

// Rest passes the rest of the stream to the client as it comes: whole events only, by reference where nothing is left out
// of them, and no more tokens than were asked for. It ends with the engine's [DONE] passed on, with an error, or, parks
// being true, where the stream can do without a goroutine.
func (r *Relay) Rest() (parks bool, err error) {
	if r.scanner.Done() {
		return false, r.end(true, nil)
	}
	var done bool
	err = r.Response.Feed(
		func(piece []byte) (err error) {
			if done, err = r.take(piece); done && err == nil {
				return errStop
			}
			return err
		},
		func() (err error) {
			if err = r.flush(); err == nil {
				if parks = r.parks(); parks {
					return errStop
				}
			}
			return err
		})
	if parks {
		return true, nil
	}
	return false, r.end(done, err)
}

// errStop stops what feeds a stream. It reaches no caller.
var errStop = errors.New("stream: stop")

// end is what follows on the last piece, or on err.
func (r *Relay) end(done bool, err error) error {
	r.gaps.Flush()
	if kept := r.out.Own(r.client); kept != nil {
		return r.clientGone(kept)
	}
	if !done {
		return r.broken(err)
	}
	return r.complete()
}

// step is one read from the engine and what follows from it, up to the client's buffer.
func (r *Relay) step() error {
	if err := r.out.Own(r.client); err != nil {
		return r.clientGone(err)
	}
	r.came = 0
	piece, err := engine.Next(r.Response)
	if err != nil {
		return r.broken(err)
	}
	_, err = r.take(piece)
	return err
}

// take is what follows from a piece, up to the client's buffer. It returns true after [DONE].
func (r *Relay) take(piece []byte) (done bool, err error) {
	if err := r.out.Own(r.client); err != nil {
		return false, r.clientGone(err)
	}
	out, bad := r.scanner.Feed(piece)
	if err := r.pass(out); err != nil {
		return false, err
	}
	if bad != nil {
		return false, &Unusable{Begun: r.heard, Err: bad}
	}
	return r.scanner.Done(), nil
}

// Unusable says that what an engine sent is no answer.
type Unusable struct {
	Begun bool // the client has something of the engine's answer
	Err   error
}

func (e *Unusable) Error() string { return "the engine's answer is unusable: " + e.Err.Error() }
func (e *Unusable) Unwrap() error { return e.Err }

// flush sends what the client's buffer holds, and gives the place up where the Gate wants it back.
func (r *Relay) flush() error {
	r.came = 0
	if r.parker != nil {
		r.measure(len(r.out.Held()))
	}
	if err := r.push(); err != nil {
		return err
	}
	if r.yields() {
		return place.ErrPreempted
	}
	return nil
}

// broken is what ends a stream whose engine ended with err.
func (r *Relay) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: the stream ended without [DONE]", engine.ErrReset)
	}
	return r.Late(r.FirstTokenBy, err)
}

// pass forwards whole events to the client and accounts for the tokens in them.
func (r *Relay) pass(out [2][]byte) error {
	if len(out[0])+len(out[1]) == 0 {
		return nil
	}
	since := r.readAt()
	if (!r.begun || r.Cont != nil) && !r.secure() {
		return place.ErrPreempted
	}
	if !r.begun {
		r.Begin(r.origin.At(since), -1)
	}
	if !r.heard {
		r.Response.SetIdle(r.Idle)
	}
	r.count(since)
	r.ArmWrite(since)
	for _, part := range out {
		if len(part) == 0 {
			continue
		}
		if err := r.out.Own(r.client); err != nil { // the second part is rewritten where the first was
			return r.clientGone(err)
		}
		if err := r.out.Put(r.client, r.Rewriter.Events(r.norm.Events(r.Cont.Events(part)))); err != nil {
			return r.clientGone(err)
		}
	}
	return nil
}

// Begin sends the head of the answer.
func (r *Relay) Begin(now time.Time, length int) {
	r.observer.Head(now, length)
	r.begun = true
}

// readAt is how long after the arrival the events at hand came: one look at one clock for all that came together.
func (r *Relay) readAt() time.Duration {
	if r.came == 0 {
		r.came = r.origin.Since()
	}
	return r.came
}

// count tells the place of growth, and the board of the time between tokens.
func (r *Relay) count(since time.Duration) {
	base, before := r.Cont.Base(), r.delivered
	tokens := base + r.scanner.Tokens()
	if tokens == before {
		return
	}
	r.delivered = tokens
	now := r.origin.At(since)
	if r.Place.Grow(tokens, base, now) {
		r.observer.Answered()
	}
	if before == 0 {
		r.observer.FirstToken(now)
	} else {
		r.gaps.Add((since - r.wrote) / time.Duration(tokens-before))
	}
	r.wrote = since
}

// ArmWrite gives the client write_timeout to take what is written next; set anew at most every quarter of it.
func (r *Relay) ArmWrite(since time.Duration) {
	if since >= r.writeArmed {
		r.writeArmed = since + r.Write/4
		_ = r.client.SetWriteDeadline(r.origin.At(since + r.Write))
	}
}

// push has the client get what it has been given so far.
func (r *Relay) push() error {
	if err := r.out.Send(r.client); err != nil {
		return r.clientGone(err)
	}
	return nil
}

// clientGone is why a write failed: the client left, or it does not read.
func (r *Relay) clientGone(err error) error {
	if !r.origin.Left() {
		return fmt.Errorf("%w: %w", ErrSlowClient, err)
	}
	return context.Canceled
}

// complete writes [DONE], then lets the connection to the engine come to its proper end so that it can be used again.
func (r *Relay) complete() error {
	usage, _ := r.Told()
	r.usage, r.finish = r.extent().Believe(r.Cont.Usage(usage)), r.scanner.FinishReason()
	if cached := r.cached(usage); cached >= 0 {
		r.Place.Cached(cached)
	}
	r.observer.Usage(usage)
	r.Place.Vacate()
	if err := r.out.Put(r.client, DoneEvent); err != nil {
		return r.clientGone(err)
	}
	if err := r.push(); err != nil {
		return err
	}
	if !r.scanner.Cut() { // else the engine has more to say, which the client does not get
		Drain(r.Response)
	}
	return nil
}

// Fail writes event behind what the client has been given, as the last that it gets of a stream that broke.
func (r *Relay) Fail(event []byte) {
	r.ArmWrite(r.origin.Since())
	_ = r.out.Put(r.client, event) // the close that follows says the same, less politely
	_ = r.push()
}

// Release gives back the memory of the answer.
func (r *Relay) Release() {
	r.out.Drop()
	r.dropBody()
}
