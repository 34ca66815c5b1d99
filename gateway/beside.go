package gateway

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"octet/engine"
	"octet/routing"
)

// beside is a leg whose request goes out together with the last step's: the two engines find each other, and only the last
// step's answer matters. Its goroutine is the exchange's, which waits for it.
type beside struct {
	step   routing.Step
	rep    *Replica
	again  bool               // it has failed once
	cancel context.CancelFunc // nil until it is sent
	done   chan struct{}
}

// sendBeside sends the leg that waits for the last step, if there is one. When it fails, fail ends the last step's attempt.
func (x *exchange) sendBeside(fail context.CancelCauseFunc) error {
	b := x.beside
	if b == nil {
		return nil
	}
	x.stopBeside()
	hop := x.hop(b.step, b.rep)
	if err := x.protocol.Request(hop); err != nil { // anew for every attempt of the last step
		return err
	}
	segments, err := x.segmentsOf(hop, nil)
	if err != nil {
		return err
	}
	r := x.request(hop, [][]byte{slices.Concat(segments...)}, x.legBudget()) // a copy: it may outlive the question
	ctx, cancel := context.WithCancel(x.ctx)
	b.cancel, b.done = cancel, make(chan struct{})
	client, done := b.rep.Client, b.done
	go func() {
		defer close(done)
		if drainLeg(ctx, client, r, x.rt.Limits.TTFTTimeout) != nil && ctx.Err() == nil {
			fail(errHandover)
		}
	}()
	return nil
}

// drainLeg sends r and reads the answer to its end, for nothing but how it ends.
func drainLeg(ctx context.Context, c engine.Client, r *engine.Request, idle time.Duration) error {
	resp, err := c.Do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Close()
	resp.SetIdle(idle)
	for err == nil {
		_, err = resp.Next()
	}
	if resp.Status() != 200 || !errors.Is(err, io.EOF) {
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
