package dispatch

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/gateway/sse"
	"octet/gateway/upstream"
	"octet/internal/contain"
	"octet/routing"
)

// beside is a leg whose request goes out together with the last step's: the two engines find each other, and only the
// last step's answer matters. Its goroutine is the Dispatch's, which waits for it.
type beside struct {
	step     routing.Step
	rep      *ensemble.Replica
	again    bool               // it has failed once
	turn     int                // its number in the request's trace
	cancel   context.CancelFunc // nil until it is sent
	done     chan struct{}
	accepted chan struct{} // closed when the engine has taken it
}

// send sends the leg that waits for the last step; a nil leg sends nothing. When it fails, it ends the last step's
// attempt.
func (b *beside) send(d *Dispatch, attempt *place.Context) error {
	if b == nil {
		return nil
	}
	d.steps.stopBeside()
	hop := new(ensemble.Hop)
	d.prepare(hop, &b.step, b.rep)
	if err := d.steps.protocol.Request(hop); err != nil { // anew for every attempt of the last step
		return err
	}
	segments, err := upstream.Segments(hop, d.Request, nil)
	if err != nil {
		return err
	}
	budget, err := d.patience(d.Relay.Delivered())
	if err != nil {
		return err
	}
	d.tell(hop, d.Trace.AskBeside(b.turn, d.Timer))
	r := new(engine.Request)
	d.fill(r, hop, [][]byte{slices.Concat(segments...)}, budget) // a copy: it may outlive the question
	r.IdleTimeout = d.Runtime.Limits.TTFTTimeout
	ctx, cancel := context.WithCancel(d.ctx)
	b.cancel, b.done, b.accepted = cancel, make(chan struct{}), make(chan struct{})
	client, done, accepted := b.rep.Client, b.done, b.accepted
	go func() {
		defer close(done)
		defer contain.End(contain.Leg, func() { attempt.Cancel(fault.ErrHandover) })
		if drainLeg(ctx, client, r, accepted) != nil && ctx.Err() == nil {
			attempt.Cancel(fault.ErrHandover)
		}
	}()
	d.turn.handed = true
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
		return fault.ErrHandover
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
				return fault.ErrHandover
			}
		}
	}
	if !errors.Is(err, io.EOF) || r.Stream && !events.Done() {
		return fault.ErrHandover
	}
	return nil
}
