package stream

import (
	"errors"

	"octet/engine"
	"octet/gateway/conn"
	"octet/gateway/place"
)

// A stream that has gone on for a while is parked: its goroutine ends, and what its engine sends is passed on by a loop
// that does so for many streams, one after the other. Whatever befalls it, but events that its client's socket has room
// for, takes a goroutine again.

// quietReads is how often an engine must have sent little at a time, and no more, until a stream is parked again that
// was resumed for a burst or a slow client. littleBytes is little.
const (
	quietReads  = 16
	littleBytes = 2 << 10
)

// measure notes how much is sent in one go.
func (r *Relay) measure(size int) {
	switch {
	case size > littleBytes:
		r.quiet = quietReads + 1
	case r.quiet > 0:
		r.quiet--
	}
}

// parks reports whether the stream can do without a goroutine from here on, as nothing is at hand.
func (r *Relay) parks() bool {
	return r.parker != nil && r.quiet == 0 && (r.Held == nil || !r.Held()) && r.parker.CanPark()
}

// Park hands the stream to its engine's loop. resume runs on a goroutine when the loop is done with it, with the error
// for which it is: see Resumed. It returns false if there is no loop; then the stream goes on where it is, and is not
// parked again.
func (r *Relay) Park(resume func(why error) (over bool)) bool {
	r.out.Unbound(true)
	carried := r.Response.Carry((*parked)(r), func(why error) {
		_ = r.out.Own(r.client) // what it holds is the loop's memory; unbound, it writes nothing
		r.out.Unbound(false)
		r.parker.Resume(func() bool { return resume(why) })
	})
	if !carried {
		r.out.Unbound(false)
		r.parker = nil
	}
	return carried
}

// tryFlush is flush for the loop: it does not wait.
func (r *Relay) tryFlush() error {
	r.came = 0
	err := r.out.TrySend(r.parker)
	switch {
	case errors.Is(err, conn.ErrFull):
		return err
	case err != nil:
		return r.clientGone(err)
	case r.yields():
		return place.ErrPreempted
	}
	return nil
}

// Resumed is Rest for a stream that was parked, once its loop has ended with why.
func (r *Relay) Resumed(why error) (parks bool, err error) {
	var panicked engine.Panic
	switch {
	case errors.As(why, &panicked):
		panic(why) // its text has the stack of the loop
	case why == nil && r.scanner.Done():
		return false, r.end(true, nil)
	case why == nil, errors.Is(why, conn.ErrFull):
		return r.Unparked()
	}
	return false, r.end(false, why)
}

// Unparked is Rest for a stream that is too much for a loop, after its client has what it is owed.
func (r *Relay) Unparked() (parks bool, err error) {
	r.quiet = quietReads + 1
	if err := r.push(); err != nil {
		return false, err
	}
	return r.Rest()
}
