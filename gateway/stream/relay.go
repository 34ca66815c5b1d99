package stream

import (
	"errors"
	"fmt"
	"time"

	"octet/engine"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/slo"
)

// Relay carries one answer from the engines that bring it to its client.
type Relay struct {
	progress
	Transcript Transcript

	client   Client
	parker   Parker // nil before the handler has returned, and once the stream cannot be parked
	origin   Origin
	observer Observer

	norm *Normalizer
	gaps slo.Gaps
	out  Outbox
	body *[]byte // of an answer in one piece; nil before it is read

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
	if r.Native == nil {
		r.norm = Normalize(src.Request, r.Kind, src.Engine, r.begun, r.norm)
	}
	r.Request = nil // its memory may be given back once the stream has begun
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
		r.Cont.Begin(&o, r.Request, r.Reasons, r.TextBytes)
	}
	r.Transcript.Begin(&o, r.begun)
	if r.Native != nil {
		o.Dialect, o.Most = r.Native, r.Most
	} else {
		r.Cont.Scanning(&o, r.Request, r.Kind, r.Engine, r.Most)
	}
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

// Rest passes the rest of the stream to the client as it comes: whole events only, by reference where nothing is left
// out of them, and no more tokens than were asked for. It ends with the engine's [DONE] passed on, with an error, or,
// parks being true, where the stream can do without a goroutine.
func (r *Relay) Rest() (parks bool, err error) {
	if r.scanner.Done() {
		return false, r.end(true, nil)
	}
	switch err = r.Response.Feed((*relaying)(r)); {
	case err != nil:
		return false, r.end(false, err)
	case r.scanner.Done():
		return false, r.end(true, nil)
	}
	return true, nil
}

// step is one read from the engine and what follows from it, up to the client's buffer.
func (r *Relay) step() error {
	if err := r.out.Own(r.client); err != nil {
		return r.clientGone(err)
	}
	r.came = 0
	if err := r.Response.Feed((*opening)(r)); err != nil {
		return r.broken(err)
	}
	return nil
}

// take is what follows from a piece, up to the client's buffer. There is no more after [DONE].
func (r *Relay) take(piece []byte) (more bool, err error) {
	if err := r.out.Own(r.client); err != nil {
		return false, r.clientGone(err)
	}
	out, bad := r.scanner.Feed(piece)
	if r.strays() {
		return false, &Unusable{Begun: r.heard, Err: ErrStrayed}
	}
	if err := r.pass(out); err != nil {
		return false, err
	}
	if bad != nil {
		return false, &Unusable{Begun: r.heard, Err: bad}
	}
	return !r.scanner.Done(), nil
}

// flush sends what the client's buffer holds, and gives the place up where the Gate wants it back. more is false where
// the stream can be parked.
func (r *Relay) flush() (more bool, err error) {
	r.came = 0
	if r.parker != nil {
		r.measure(len(r.out.Held()))
	}
	if err := r.push(); err != nil {
		return false, err
	}
	if r.yields() {
		return false, place.ErrPreempted
	}
	return !r.parks(), nil
}

// push has the client get what it has been given so far.
func (r *Relay) push() error {
	if err := r.out.Send(r.client); err != nil {
		return r.clientGone(err)
	}
	return nil
}
