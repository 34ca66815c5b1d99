package gateway

import (
	"context"
	"errors"
	"time"

	"octet/engine"
	"octet/routing/fleet"
	"octet/scheduler"
)

// place is a shadow's at a replica: the Gate and the fleet hear of its growth at block boundaries.
type place struct {
	ticket *scheduler.Ticket
	flight *fleet.Flight
	size   int // tokens a block
	now    func() time.Time
	tokens int
}

func (p *place) grow(tokens int) {
	if tokens == p.tokens {
		return
	}
	now := p.now()
	if p.tokens == 0 {
		p.ticket.FirstToken()
		p.flight.FirstToken(now)
	}
	if p.tokens == 0 || p.tokens/p.size != tokens/p.size {
		p.ticket.Grow(tokens)
		p.flight.Grow(tokens, now)
	}
	p.tokens = tokens
}

// shadowOutcome names how a shadow ended, for the metric.
func shadowOutcome(err error) string {
	switch {
	case err == nil:
		return "compared"
	case errors.Is(err, errCrowd):
		return "crowded"
	case errors.Is(err, errNoPlace), errors.Is(err, scheduler.ErrRefused):
		return "no_place"
	case errors.Is(err, errPreempted):
		return "preempted"
	case errors.Is(err, errForgone), errors.Is(err, errEnded), errors.Is(err, context.Canceled):
		return "forgone"
	case errors.Is(err, errLong), errors.Is(err, engine.ErrTooLarge):
		return "too_long"
	case errors.Is(err, errSlow), errors.Is(err, engine.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}
