package dispatch

import (
	"context"
	"errors"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/place"
	"octet/gateway/stream"
	"octet/internal/contain"
)

// part is a stretch of a stream. It ends with the stream, or, parks being true, where the stream can do without a
// goroutine.
type part func() (parks bool, err error)

// Carry carries a stream that has begun, once its handler has returned. It returns true if the stream is over and its
// Client has been told, and false if it is parked.
func (d *Dispatch) Carry() (over bool) {
	d.Slim()
	return carrier{attempt{d}}.carry(d.Relay.Rest)
}

// carrier carries a stream that has begun.
type carrier struct{ attempt }

// carry runs a part of a stream and what follows on it, until the stream is over (true) or parked (false). A parked
// stream belongs to its engine's loop.
func (c carrier) carry(p part) (over bool) {
	for {
		parks, err := c.guarded(p)
		if !parks {
			c.Client.End(err)
			return true
		}
		if c.Relay.Park(c.unpark) {
			return false
		}
		p = c.Relay.Unparked
	}
}

// unpark carries a stream whose loop has ended with why.
func (c carrier) unpark(why error) (over bool) {
	return c.carry(func() (bool, error) { return c.Relay.Resumed(why) })
}

// guarded is follow, with a panic as an error of this request alone.
func (c carrier) guarded(p part) (parks bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			contain.Note(contain.Request, v, "request_id", c.Request.ID)
			parks, err = false, apierr.New(apierr.Internal, "", "internal error")
		}
	}()
	return c.follow(p)
}

// follow runs a part of a stream, and the rest, through every preemption and every death of an engine.
func (c carrier) follow(p part) (parks bool, err error) {
	parks, err = p()
	for !parks {
		err = c.turn.place.Cause(c.report().Meaning(err))
		switch {
		case errors.Is(err, place.ErrPreempted) && c.Relay.Unfinished():
			err = c.resume(c.ctx)
			c.Slim()
		case c.outlives(err):
			err = c.moveOn(err)
		default:
			c.countLost(err)
			c.settle(err)
			return false, err
		}
		if err == nil {
			parks, err = c.Relay.Rest()
		}
	}
	return true, nil
}

// continuable reports whether a replica's engine could continue the answer from its text alone.
func continuable(r *intake.Request, rep *ensemble.Replica) bool {
	return r.Stream && rep.ContradictedKind() == "" && stream.Continuable(&r.Parsed, r.Kind, &rep.Kind)
}

// resume gives the place up and asks for it again, as often as it takes, until the answer goes on. The client's stream
// stays open and does not notice more than a pause: each at most of limits.max_queue_wait, or, without a queue, of
// limits.ttft_timeout. After that it is refused as others in the queue are.
func (c carrier) resume(ctx context.Context) (err error) {
	if err = c.Request.Restore(); err != nil {
		return err
	}
	for {
		c.turn.leave()
		c.Preempted++
		c.handOver()
		c.turn.place.Watch(ctx)
		if err = c.enterInTime(ctx); err != nil {
			return err
		}
		if err = c.call(); !errors.Is(err, place.ErrPreempted) {
			return err
		}
	}
}

// handOver says that another engine is to go on behind the tokens that the client has.
func (c carrier) handOver() {
	prompt := 0
	if c.Plan.Prompt.Exact {
		prompt = c.Plan.Prompt.Tokens
	}
	c.Relay.HandOver(prompt)
}
