package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"octet/engine"
	"octet/gateway/place"
)

var doneEvent = []byte("data: [DONE]\n\n")

// errDone is no failure: [DONE] came.
var errDone = errors.New("the stream is complete")

// openStream reads an engine's event stream until the client has its first byte of it.
func (x *exchange) openStream() error {
	x.scanner.Reset(x.scanning())
	if !x.started {
		x.gaps.Reset(x.sp.Board)
	}
	x.turn.heard, x.tidy = false, x.tidied()
	for !x.turn.heard {
		if err := x.hurry(); err != nil {
			return err
		}
		if err := x.step(); err != nil {
			return err
		}
		if x.scanner.Done() && !x.started {
			return fmt.Errorf("%w: the stream ended before its first event", engine.ErrProtocol)
		}
		x.turn.heard = x.started && (x.cont == nil || !x.cont.later || x.scanner.FirstToken() || x.scanner.Done())
	}
	return nil
}

// relay passes the rest of the stream to the client as it comes: whole events only, by reference where nothing is left
// out of them, and no more tokens than were asked for. It ends in exactly one of the engine's [DONE], passed on, or an
// error; or errSettles.
func (x *exchange) relay() error {
	if x.scanner.Done() {
		return x.relayed(errDone)
	}
	return x.relayed(x.turn.resp.Feed(x.take, x.flush))
}

// relayed is relay's end, where what fed it has returned err.
func (x *exchange) relayed(err error) error {
	if errors.Is(err, errSettles) {
		return err
	}
	x.gaps.Flush()
	if kept := x.out.settle(x.w); kept != nil {
		return x.clientGone(kept)
	}
	if !errors.Is(err, errDone) {
		return x.broken(err)
	}
	return x.finishStream()
}

// goOnHere is relay for a stream that is too much for a loop, after its client has what it is owed.
func (x *exchange) goOnHere() error {
	x.unrest = restsToSettle
	if err := x.push(); err != nil {
		return err
	}
	return x.relay()
}

// step is one read from the engine and what follows from it, up to the client's buffer.
func (x *exchange) step() error {
	if err := x.out.settle(x.w); err != nil {
		return x.clientGone(err)
	}
	x.came = 0
	piece, err := engine.Next(x.turn.resp)
	if err == nil {
		err = x.take(piece)
	}
	if errors.Is(err, errDone) {
		return nil
	}
	return x.broken(err)
}

// take is what follows from a piece, up to the client's buffer: errDone after [DONE].
func (x *exchange) take(piece []byte) error {
	if err := x.out.settle(x.w); err != nil {
		return x.clientGone(err)
	}
	out, bad := x.scanner.Feed(piece)
	if err := x.pass(out); err != nil {
		return err
	}
	if bad != nil {
		return x.unusable(bad)
	}
	if x.scanner.Done() {
		return errDone
	}
	return nil
}

// flush sends what the client's buffer holds.
func (x *exchange) flush() error {
	x.came = 0
	size := len(x.out.held())
	switch err := x.push(); {
	case err != nil:
		return err
	case x.told():
		return place.ErrPreempted
	case x.settles(size):
		return errSettles
	}
	return nil
}

// broken is what the client is told of a stream that broke with err; nil of one that did not.
func (x *exchange) broken(err error) error { return x.lateDeadline(ending(false, nil, err)) }

// ending says how a stream goes on after a read: nil is on, or well done.
func ending(done bool, bad, read error) error {
	switch {
	case done:
		return nil
	case bad != nil:
		return broke(bad)
	case errors.Is(read, io.EOF):
		return fmt.Errorf("%w: the stream ended without [DONE]", engine.ErrReset)
	}
	return read
}

// pass forwards whole events to the client and accounts for the tokens in them.
func (x *exchange) pass(out [2][]byte) error {
	if len(out[0])+len(out[1]) == 0 {
		return nil
	}
	since := x.readAt()
	if (!x.started || x.cont != nil) && !x.secure() {
		return place.ErrPreempted
	}
	if !x.started {
		x.writeHead(x.arrival.Add(since), -1)
	}
	if !x.turn.heard {
		x.turn.resp.SetIdle(x.rt.Limits.IdleTimeout)
	}
	x.count(since)
	x.armWrite(since)
	for _, part := range out {
		if len(part) == 0 {
			continue
		}
		if err := x.out.settle(x.w); err != nil { // the second part is rewritten where the first was
			return x.clientGone(err)
		}
		if x.cont != nil {
			part = x.rejoined(part)
		}
		part = x.protocol.Events(x.tidy.events(part))
		if err := x.out.put(x.w, part); err != nil {
			return x.clientGone(err)
		}
	}
	return nil
}

// readAt is how long after the request the events at hand came: one look at one clock for all that came together.
func (x *exchange) readAt() time.Duration {
	if x.came == 0 {
		x.came = x.since()
	}
	return x.came
}

// count tells the Gate of growth at block boundaries only, and the board of the time between tokens.
func (x *exchange) count(since time.Duration) {
	base := x.base()
	tokens := base + x.scanner.Tokens()
	before := x.handedOut
	if tokens == before {
		return
	}
	x.handedOut = tokens
	if x.turn.place.Grow(tokens, base, x.arrival.Add(since)) {
		x.releaseHeld()
	}
	if gap := since - x.wrote; before == 0 {
		x.observeFirstToken(x.arrival.Add(since))
	} else if n := tokens - before; n == 1 {
		x.gaps.Add(gap)
	} else {
		x.gaps.Add(gap / time.Duration(n))
	}
	x.wrote = since
}

// armWrite gives the client write_timeout to take what is written next; set anew at most every quarter of it.
func (x *exchange) armWrite(since time.Duration) {
	if since >= x.writeArmed {
		limit := x.rt.Limits.WriteTimeout
		x.writeArmed = since + limit/4
		_ = x.w.SetWriteDeadline(x.arrival.Add(since + limit)) // not every transport has deadlines
	}
}

// push has the client get what it has been given so far.
func (x *exchange) push() error {
	if err := x.out.send(x.w); err != nil {
		return x.clientGone(err)
	}
	return nil
}

// clientGone is why a write failed: the client left, or it does not read.
func (x *exchange) clientGone(err error) error {
	if !x.left() {
		return fmt.Errorf("%w: %w", errSlowClient, err)
	}
	return context.Canceled
}

// left says whether the client has closed its side.
func (x *exchange) left() bool {
	ctx := x.r.Context()
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errDrained)
}

// finishStream writes [DONE], then lets the connection to the engine come to its proper end so that it can be used
// again.
func (x *exchange) finishStream() error {
	usage, _ := x.usageTold()
	x.usage = x.extent().believe(x.whole(usage))
	x.finish = x.scanner.FinishReason()
	x.noteCached(usage)
	x.turn.place.Vacate() // before the client can see the end: whoever asks next finds the blocks free
	if err := x.out.put(x.w, doneEvent); err != nil {
		return x.clientGone(err)
	}
	if err := x.push(); err != nil {
		return err
	}
	if !x.scanner.Cut() { // else the engine has more to say, which is for nobody
		drain(x.turn.resp)
	}
	return nil
}
