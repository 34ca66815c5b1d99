package dispatch

import (
	"context"
	"errors"
	"fmt"

	"octet/engine"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/routing"
	"octet/routing/index"
)

// succession is what is known of the engines that died under a request, and of those whose context is too short for it.
type succession struct {
	died   index.HostBitmap // the replicas of both
	failed string           // why the stream found no other: elsewhere | budget; "" while it has not failed
}

// outlives reports whether a stream that broke with err is to go on at another replica: its engine failed, and the text
// that the client has is all that another engine needs.
func (c carrier) outlives(err error) bool {
	broke := fault.CauseOf(err) == fault.ByReplica || errors.Is(err, engine.ErrProtocol)
	return broke && c.turn.rep != nil && c.Relay.Resumable() && c.Continued < c.Runtime.Limits.Continuations &&
		c.ctx.Err() == nil
}

// moveOn leaves an engine that died and has another replica go on behind what the client has. On nil the stream is
// under way again. While no other replica takes it, the first engine's death is what the client is told.
func (c carrier) moveOn(died error) error {
	c.heirs.died.Set(c.turn.rep.Host)
	c.settle(died)
	c.handOver()
	if err := c.Request.Restore(); err != nil {
		return err
	}
	t := takeover{c: c}
	err := t.run()
	c.Resolve(err == nil)
	c.Slim()
	switch {
	case err == nil:
		return t.broke
	case c.ctx.Err() != nil:
		return place.Cause(c.ctx, err)
	}
	c.heirs.failed = "elsewhere"
	if errors.Is(err, routing.ErrNoBudget) {
		c.heirs.failed = "budget"
	}
	return fmt.Errorf("%w; going on elsewhere: %v", died, err) //nolint:errorlint // what befell the stream is the first
}

// countLost counts a stream that ends because its engine failed, by why it does not go on.
func (c carrier) countLost(err error) {
	if !c.Relay.Begun() || c.Relay.Done() || fault.CauseOf(err) != fault.ByReplica {
		return
	}
	why := c.heirs.failed
	switch {
	case why != "":
	case c.Relay.Cont == nil || c.Continued < c.Runtime.Limits.Continuations:
		why = "kind"
	default:
		why = "attempts"
	}
	c.Shared.Metrics.StreamLost(c.Plan.Specialist.Name, why)
}

// takeover is the Dispatcher of a stream that goes on elsewhere.
type takeover struct {
	c     carrier
	broke error // how the attempt ended that got as far as the stream: follow knows what is to be done
}

// run routes anew, without the replicas that died, and takes the answering step down its ranking. The steps before it
// are left out: what they handed over was for the engine that died.
func (t *takeover) run() error {
	d := t.c
	prompt := d.Plan.Prompt
	plan, err := d.route()
	if err != nil && d.toNewest() {
		plan, err = d.route()
	}
	if err != nil {
		return err
	}
	if prompt.Exact {
		d.Plan.Prompt.Tokens, d.Plan.Prompt.Exact = prompt.Tokens, true
	}
	d.steps.protocol.Forget()
	if !d.mayTry() {
		return routing.ErrNoBudget
	}
	last := routing.Plan{Steps: plan.Steps[len(plan.Steps)-1:]}
	bounds := routing.Bounds{MaxAttempts: d.Runtime.Limits.Continuations - d.Continued, Budget: d.mayTry}
	return routing.SequentialExecutor(bounds).Execute(d.ctx, last, t)
}

// Dispatch implements routing.Dispatcher: one replica's turn at going on. It succeeds once the client has had something
// of the replica's answer, however that ends.
func (t *takeover) Dispatch(ctx context.Context, s routing.Step, host index.HostID, _ int) error {
	d := t.c
	rep := d.Runtime.Replicas[host]
	if !continuable(d.Request, rep) || !d.Relay.Cont.ContinuedBy(rep.Reasons(), rep.SeenToReason()) ||
		rep.OnlyAfterMeeting() {
		return fmt.Errorf("%w: slot %d cannot go on with an answer", routing.ErrNotTried, host)
	}
	d.retry.free = true
	d.begin(rep, d.openAttempt(s.Name, rep, host, d.Timer.Moment()), &s)
	err := t.takeUp(ctx)
	if err == nil || errors.Is(err, place.ErrPreempted) || d.Relay.Delivered() > d.Relay.Cont.Base() {
		t.broke = err
		return nil
	}
	d.settle(err)
	return fault.Again(err)
}

// takeUp brings the next tokens of the replica whose turn it is to the client.
func (t *takeover) takeUp(ctx context.Context) (err error) {
	d := t.c
	if err = d.turn.place.Permit(d.Timer.Now()); err != nil {
		return err
	}
	d.Attempts++
	d.Continued++
	d.turn.place.Watch(ctx)
	if err = d.enterInTime(ctx); err != nil {
		return err
	}
	return d.call()
}

// enterInTime is enter with a bound: a stream that has begun is refused by no queue, and its client waits in the middle
// of a word.
func (c carrier) enterInTime(ctx context.Context) error {
	within, cancel := context.WithTimeoutCause(ctx, c.Runtime.Limits.TTFTTimeout, fault.ErrNoPlace)
	defer cancel()
	return c.enter(within, c.Timer.Since(), c.most())
}

// toNewest has what follows go by the newest Runtime, as the request's own has no replica left that may answer: one may
// have come since. It returns false if there is no newer one with the specialist. Generations share replicas, and use
// slots again: one that is another replica's now has not died.
func (d *Dispatch) toNewest() bool {
	newest := d.Shared.Newest()
	sp := newest.Specialist(d.Plan.Specialist.Name)
	if newest == d.Runtime || sp == nil {
		return false
	}
	for h := range d.heirs.died.All() {
		if newest.Replicas[h] != d.Runtime.Replicas[h] {
			d.heirs.died.Clear(h)
		}
	}
	d.Runtime, d.Plan.Specialist = newest, sp
	return true
}
