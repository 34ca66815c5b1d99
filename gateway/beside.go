package gateway

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/internal/contain"
	"octet/routing"
)

// beside is a leg whose request goes out together with the last step's: the two engines find each other, and only the
// last step's answer matters. Its goroutine is the exchange's, which waits for it.
type beside struct {
	step     routing.Step
	rep      *ensemble.Replica
	again    bool               // it has failed once
	cancel   context.CancelFunc // nil until it is sent
	done     chan struct{}
	accepted chan struct{} // closed when the engine has taken it
}

// sendBeside sends the leg that waits for the last step, if there is one. When it fails, it ends the last step's
// attempt.
func (x *exchange) sendBeside(attempt *place.Context) error {
	b := x.beside
	if b == nil {
		return nil
	}
	x.stopBeside()
	hop := new(ensemble.Hop)
	x.prepare(hop, &b.step, b.rep)
	if err := x.protocol.Request(hop); err != nil { // anew for every attempt of the last step
		return err
	}
	segments, err := x.segmentsOf(hop, nil)
	if err != nil {
		return err
	}
	budget, err := x.patience(x.relay.Delivered())
	if err != nil {
		return err
	}
	r := new(engine.Request)
	x.engineRequest(r, hop, [][]byte{slices.Concat(segments...)}, budget) // a copy: it may outlive the question
	r.IdleTimeout = x.rt.Limits.TTFTTimeout
	ctx, cancel := context.WithCancel(x.ctx)
	b.cancel, b.done, b.accepted = cancel, make(chan struct{}), make(chan struct{})
	client, done, accepted := b.rep.Client, b.done, b.accepted
	go func() {
		defer close(done)
		defer contain.End(contain.Leg, func() { attempt.Cancel(errHandover) })
		if drainLeg(ctx, client, r, accepted) != nil && ctx.Err() == nil {
			attempt.Cancel(errHandover)
		}
	}()
	x.turn.handed = true
	return b.await(attempt, hop.Accept)
}

// await returns when the engine has taken the leg, at the latest after most. The error is why the attempt has ended
// meanwhile.
func (b *beside) await(ctx *place.Context, most time.Duration) error {
	if most <= 0 {
		return nil
	}
	patience := time.NewTimer(most)
	defer patience.Stop()
	select {
	case <-b.accepted:
	case <-b.done:
	case <-ctx.Done():
	case <-patience.C:
	}
	return ctx.Cause()
}

// drainLeg sends r and reads the answer to its end, for nothing but how it ends. It closes accepted when the engine has
// taken r.
func drainLeg(ctx context.Context, c engine.Client, r *engine.Request, accepted chan<- struct{}) error {
	resp, err := c.Do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Close()
	if resp.Status() != 200 {
		return errHandover
	}
	close(accepted)
	resp.SetIdle(r.IdleTimeout)
	var events sse.Scanner
	events.Reset(sse.Options{})
	for err == nil {
		var piece []byte
		piece, err = engine.Next(resp)
		if r.Stream && len(piece) > 0 {
			if _, bad := events.Feed(piece); bad != nil {
				return errHandover
			}
		}
	}
	if !errors.Is(err, io.EOF) || r.Stream && !events.Done() {
		return errHandover
	}
	return nil
}

// stopBeside ends the leg beside an attempt that is over, and waits for its goroutine.
func (x *exchange) stopBeside() {
	if b := x.beside; b != nil && b.cancel != nil {
		b.cancel()
		<-b.done
		b.cancel = nil
	}
}

// endBeside is stopBeside for good.
func (x *exchange) endBeside() {
	x.stopBeside()
	x.beside = nil
}
