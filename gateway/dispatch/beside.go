package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/gateway/receipt"
	"octet/gateway/stream"
	"octet/gateway/upstream"
	"octet/internal/contain"
	"octet/routing"
	"octet/routing/fleet"
)

// beside is a leg whose request goes out together with the last step's: the two engines find each other, and only the
// last step's answer matters. Its goroutine is the Dispatch's, which waits for it.
type beside struct {
	step     routing.Step
	rep      *ensemble.Replica
	again    bool               // it has failed once
	turn     int                // its number in the request's trace
	entry    int                // its number in the receipt
	sent     bool               // once at least
	permit   fleet.Permit       // of what was sent last, or of what is to be sent; its goroutine's until done
	err      error              // how what was sent last has failed; its goroutine's until done
	cancel   context.CancelFunc // nil until it is sent
	done     chan struct{}
	accepted chan struct{} // closed when the engine has taken it
}

// send sends the leg that waits for the last step; a nil leg sends nothing. When it fails, it ends the last step's
// attempt.
func (b *beside) send(a attempt, at *place.Context) error {
	if b == nil {
		return nil
	}
	a.steps.stopBeside()
	if err := b.permitted(a.Dispatch); err != nil {
		return err
	}
	hop := new(ensemble.Hop)
	a.prepare(hop, &b.step, b.rep)
	if err := a.steps.protocol.Request(hop); err != nil { // anew for every attempt of the last step
		return err
	}
	segments, err := upstream.Segments(hop, a.Request, nil)
	if err != nil {
		return err
	}
	budget, err := a.patience(a.Relay.Delivered())
	if err != nil {
		return err
	}
	a.tell(hop, a.Trace.AskBeside(b.turn, a.Timer))
	r := new(engine.Request)
	a.fill(r, hop, [][]byte{slices.Concat(segments...)}, budget) // a copy: it may outlive the question
	r.IdleTimeout = a.Runtime.Limits.TTFTTimeout
	ctx, cancel := context.WithCancel(a.ctx)
	b.cancel, b.done, b.accepted = cancel, make(chan struct{}), make(chan struct{})
	done, report, now := b.done, a.reportOf(b.rep), a.Timer.Now
	b.sent = true
	go func() {
		defer close(done)
		defer contain.End(contain.Leg, func() { at.Cancel(fault.ErrHandover) })
		err := b.drain(ctx, r, report)
		if ctx.Err() != nil {
			return // the last step needs it no more: its end says nothing
		}
		if b.judge(err, now); err != nil {
			at.Cancel(fault.ErrHandover)
		}
	}()
	a.turn.handed = true
	return b.await(at, hop.Accept)
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

// lingering is how long a leg may outlive the last step that has failed for what was handed over.
const lingering = 100 * time.Millisecond

// linger waits for the leg to end by itself, for a short time: an engine that has failed the other one fails its own
// request in the same moment, most often, and is to be known for it.
func (b *beside) linger() {
	if b.cancel == nil {
		return
	}
	patience := time.NewTimer(lingering)
	defer patience.Stop()
	select {
	case <-b.done:
	case <-patience.C:
	}
}

// permitted makes sure that what is sent now has a permit of the breaker: a leg that is sent again needs another one.
func (b *beside) permitted(d *Dispatch) error {
	if !b.sent {
		return nil
	}
	b.permit.Settle(fleet.Cancelled)
	b.err = nil
	if err := b.rep.Fleet.TakeAt(&b.permit, d.Timer.Now()); err != nil {
		b.err, d.turn.handed = err, true // as good as sent: the last step may do without
		return fmt.Errorf("%w: %w", fault.ErrHandover, err)
	}
	d.Receipt.Entry(b.entry).Close(d.Timer.Since(), receipt.OK, "")
	return nil
}

// drain sends r and reads the answer to its end. It closes accepted when the engine has taken r.
func (b *beside) drain(ctx context.Context, r *engine.Request, report fault.Report) error {
	err := stream.Swallow(ctx, b.rep.Client, r, func() { close(b.accepted) }, report.Refused)
	if _, unusable := errors.AsType[*stream.Unusable](err); unusable {
		return report.Meaning(err)
	}
	return err
}

// judge tells the breaker how the leg ended. A failure that its engine reported of itself is the Dispatch's to judge:
// it may be the request's.
func (b *beside) judge(err error, now func() time.Time) {
	b.err = err
	if errors.Is(err, fault.ErrEngineFailed) {
		return
	}
	verdict := fault.VerdictOf(err)
	b.permit.Settle(verdict)
	noteEnd(b.rep.Fleet, err, verdict)
	if errors.Is(err, fault.ErrEngineBusy) {
		b.rep.Fleet.OnBusy(now(), fault.RetryAfter(err))
	}
}

// blame records that the leg has failed, in the receipt and, where its engine has reported a failure of itself, in the
// doubts. Its goroutine has ended.
func (a attempt) blame(b *beside) {
	if b.err == nil {
		return
	}
	if errors.Is(b.err, fault.ErrEngineFailed) {
		a.doubts.note(b.rep.Fleet, b.permit, a.Request)
		b.permit = fleet.Permit{}
	}
	at := a.Receipt.Entry(b.entry)
	at.Close(a.Timer.Since(), fault.Outcome(b.err), fault.Detail(b.err))
	a.Shared.Metrics.AttemptFailed(a.Plan.Specialist.Name, at.Outcome)
}
