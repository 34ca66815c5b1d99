package gateway

import (
	"context"
	"errors"
	"fmt"

	"octet/engine"
	"octet/gateway/place"
	"octet/routing"
	"octet/routing/index"
	"octet/scheduler"
)

// errNoPlace is a replica that had no place in the time that an engine has for a first token.
var errNoPlace error = &scheduler.Refusal{Reason: scheduler.ErrQueueFull,
	Detail: "no place in time for a stream that goes on"}

// outlives reports whether a stream that broke with err is to go on at another replica: its engine failed, and the text
// that the client has is all that another engine needs.
func (x *exchange) outlives(err error) bool {
	broke := causeOf(err) == byReplica || errors.Is(err, engine.ErrProtocol)
	return broke && x.turn.rep != nil && x.relay.Resumable() && x.takeovers < x.rt.Limits.Continuations &&
		x.ctx.Err() == nil
}

// moveOn leaves an engine that died and has another replica go on behind what the client has. On nil the stream is
// under way again. While no other replica takes it, the first engine's death is what the client is told.
func (x *exchange) moveOn(died error) error {
	x.died.Set(x.turn.rep.Host)
	x.settle(died)
	x.handOver()
	if err := x.request.Restore(); err != nil {
		return err
	}
	t := takeover{x: x}
	err := t.run()
	x.resolve(err == nil)
	x.slim()
	switch {
	case err == nil:
		return t.broke
	case x.ctx.Err() != nil:
		return place.Cause(x.ctx, err)
	}
	x.forsaken = "elsewhere"
	if errors.Is(err, routing.ErrNoBudget) {
		x.forsaken = "budget"
	}
	return fmt.Errorf("%w; going on elsewhere: %v", died, err) //nolint:errorlint // what befell the stream is the first
}

// countLost counts a stream that ends because its engine failed, by why it does not go on.
func (x *exchange) countLost(err error) {
	if !x.relay.Begun() || x.relay.Done() || causeOf(err) != byReplica {
		return
	}
	why := x.forsaken
	switch {
	case why != "":
	case x.relay.Cont == nil || x.takeovers < x.rt.Limits.Continuations:
		why = "kind"
	default:
		why = "attempts"
	}
	x.s.metrics.StreamLost(x.sp.Name, why)
}

// takeover is the Dispatcher of a stream that goes on elsewhere.
type takeover struct {
	x     *exchange
	broke error // how the attempt ended that got as far as the stream: follow knows what is to be done
}

// run routes anew, without the replicas that died, and takes the answering step down its ranking. The steps before it
// are left out: what they handed over was for the engine that died.
func (t *takeover) run() error {
	x := t.x
	prompt := x.prompt
	plan, err := x.plan()
	if err != nil {
		return err
	}
	if prompt.Exact {
		x.prompt.Tokens, x.prompt.Exact = prompt.Tokens, true
	}
	x.protocol.Forget()
	if !x.mayTry() {
		return routing.ErrNoBudget
	}
	last := routing.Plan{Steps: plan.Steps[len(plan.Steps)-1:]}
	bounds := routing.Bounds{MaxAttempts: x.rt.Limits.Continuations - x.takeovers, Budget: x.mayTry}
	return routing.SequentialExecutor(bounds).Execute(x.ctx, last, t)
}

// Dispatch is one replica's turn at going on. It succeeds once the client has heard the replica, however that ends.
func (t *takeover) Dispatch(ctx context.Context, s routing.Step, host index.HostID, _ int) error {
	x := t.x
	rep := x.rt.Replicas[host]
	if !x.continuable(rep) || rep.OnlyAfterMeeting() {
		return fmt.Errorf("%w: slot %d cannot go on with an answer", routing.ErrNotTried, host)
	}
	x.free = true
	x.begins(rep, x.openAttempt(s.Name, rep, host, x.moment()), &s)
	err := x.takeUp(ctx)
	if err == nil || errors.Is(err, place.ErrPreempted) || x.relay.Delivered() > x.relay.Cont.Base() {
		t.broke = err
		return nil
	}
	x.settle(err)
	return again(err)
}

// takeUp brings the next tokens of the replica whose turn it is to the client.
func (x *exchange) takeUp(ctx context.Context) (err error) {
	if err = x.turn.place.Permit(x.Now()); err != nil {
		return err
	}
	x.attempts++
	x.takeovers++
	x.turn.place.Watch(ctx)
	if err = x.enterInTime(ctx); err != nil {
		return err
	}
	return x.call()
}

// enterInTime is enter with a bound: a stream that has begun is refused by no queue, and its client waits in the middle
// of a word.
func (x *exchange) enterInTime(ctx context.Context) error {
	within, cancel := context.WithTimeoutCause(ctx, x.rt.Limits.TTFTTimeout, errNoPlace)
	defer cancel()
	return x.enter(within, x.Since())
}
