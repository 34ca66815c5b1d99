package gateway

import (
	"errors"

	"octet/gateway/conn"
	"octet/gateway/place"
)

// A stream that has gone on for a while settles: its goroutine ends, and what its engine sends is passed on by a loop
// that does so for many, one after the other. Whatever befalls it but events that its client's socket has room for is
// for a goroutine again.

// restsToSettle is how often an engine must have sent little at a time, and no more, until a stream settles that was
// unsettled by a burst or by a slow client. littleBytes is little.
const (
	restsToSettle = 16
	littleBytes   = 2 << 10
)

// errSettles is no failure: the stream can do without a goroutine.
var errSettles = errors.New("the stream settles")

// settles says, where nothing is at hand after so many bytes, whether the stream is to do without a goroutine from here
// on.
func (x *exchange) settles(size int) bool {
	switch {
	case x.stays || x.beside != nil || len(x.held) > 0:
		return false
	case size > littleBytes:
		x.unrest = restsToSettle
		return false
	case x.unrest > 0:
		x.unrest--
		return false
	}
	return x.w.CanPark()
}

// onward runs part of a stream, and the rest: at its end, or where the stream has settled, it returns whether it is
// over.
func (x *exchange) onward(part func() error) (over bool) {
	for x.runGuarded(part) {
		x.out.boundless = true
		if x.turn.resp.Carry(x.take, x.tryFlush, x.unsettle) {
			return false // and x is the loop's by now
		}
		x.out.boundless, x.stays = false, true
		part = func() error { return x.follows(x.goOnHere()) }
	}
	x.conclude()
	return true
}

// runGuarded reports whether the stream settles.
func (x *exchange) runGuarded(part func() error) (settles bool) {
	defer x.recover()
	err := part()
	if errors.Is(err, errSettles) {
		return true
	}
	x.finishWith(err)
	return false
}

// tryFlush is flush for the loop: it does not wait.
func (x *exchange) tryFlush() error {
	x.came = 0
	err := x.out.trySend(x.w)
	switch {
	case errors.Is(err, conn.ErrFull):
		return err
	case err != nil:
		return x.clientGone(err)
	case x.told():
		return place.ErrPreempted
	}
	return nil
}

// unsettle is the end of a loop's part, on the loop: the rest is a goroutine's.
func (x *exchange) unsettle(why error) {
	_ = x.out.settle(x.w) // what it holds is the loop's memory; boundless, it writes nothing
	x.out.boundless = false
	x.w.Resume(func() bool {
		return x.onward(func() error { return x.follows(x.ended(why)) })
	})
}

// ended is relay for a stream that was settled, and is not any more.
func (x *exchange) ended(why error) error {
	var panicked interface{ Panicked() any }
	switch {
	case errors.As(why, &panicked):
		panic(why)
	case why == nil, errors.Is(why, conn.ErrFull):
		return x.goOnHere()
	}
	return x.relayed(why)
}
