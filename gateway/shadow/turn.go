package shadow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/gateway/plan"
	"octet/gateway/stream"
	"octet/internal/contain"
	"octet/routing"
	"octet/routing/fleet"
	"octet/scheduler/gate"
)

// turn is one replica's part in a copy.
type turn struct {
	rep       *ensemble.Replica
	hop       ensemble.Hop
	protocol  ensemble.Protocol
	predicted int // tokens of the prompt that its cache is believed to hold
	place     place.Place
	lora      func() // gives its adapter back; nil before it is held
	partner   *turn  // whose engine computes the prompt for this one's; nil if that does so itself
	stop      func() // ends what its engine was sent, and waits for it; nil if there is nothing to wait for
}

// leave gives everything back.
func (t *turn) leave() {
	if t.stop != nil {
		t.stop()
	}
	t.place.Unwatch()
	t.place.Release()
	if t.lora != nil {
		t.lora()
	}
}

// enter takes a place for a turn, at once or not at all. The context ends where the place is taken back.
func (sh *Shadow) enter(ctx context.Context, t *turn, p *plan.Plan) (*place.Context, error) {
	lora, ok := sh.sp.HoldLoaded(t.rep, p.Adapter) // nothing is loaded for a shadow
	if !ok {
		return nil, errNoPlace
	}
	t.lora = lora.Release
	t.place = place.New(t.rep.Fleet, t.rep.Gate, sh.sp.BlockSize)
	within := t.place.Watch(ctx)
	q := gate.Request{Now: sh.of.Now(), Victim: true, AtOnce: true}
	p.Admission(sh.request, &q)
	if !t.hop.Last {
		plan.PromptAlone(&q)
	}
	demand := fleet.Demand{Prompt: p.Prompt.Tokens, Uncached: p.Prompt.Tokens - t.predicted, Whole: !sh.request.Stream}
	_, err := t.place.Admit(ctx, &q, demand, &sh.timer)
	return within, err
}

// turnAt returns the turn of the best replica at a step that may have a part in a copy; nil if none may.
func (sh *Shadow) turnAt(p *plan.Plan, s *routing.Step) *turn {
	for _, at := range s.Ranked {
		rep := sh.rt.Replicas[at.Host]
		if rep != nil && rep.Fleet.State() == "closed" && !rep.Fleet.Draining() && !rep.Fleet.Withdrawn() &&
			sh.sp.Board.Breaker().Judges(rep.Revision()) && p.Fits(rep, max(sh.request.Parsed.MaxTokens, 1)) {
			return &turn{rep: rep, hop: ensemble.Hop{Step: *s, Replica: rep, NoUsage: true}, protocol: ensemble.Plain{},
				predicted: p.Predicted(rep.Host)}
		}
	}
	return nil
}

// pair gives last, whose engine has to meet one that computes the prompt for it, the turn of that one as its partner.
// It returns false if no replica may be one.
func (sh *Shadow) pair(p *plan.Plan, before []routing.Step, last *turn) bool {
	if len(before) == 0 {
		return false
	}
	t := sh.turnAt(p, &before[len(before)-1])
	if t == nil {
		return false
	}
	t.hop.Answerer, t.protocol = last.rep, p.Protocol()
	last.partner, last.protocol = t, t.protocol
	return true
}

// errUnmet is an engine that has failed the one which it was to meet.
var errUnmet = errors.New("the engine that was to compute the prompt has failed")

// meet sends the copy to the engine of last's partner, too. The context ends where the partner's place is taken back,
// or its engine fails.
func (sh *Shadow) meet(ctx context.Context, last *turn, p *plan.Plan) (*place.Context, error) {
	t := last.partner
	within, err := sh.enter(ctx, t, p)
	if err != nil {
		return nil, err
	}
	q, err := sh.asked(t, p.Adapter)
	if err != nil {
		return nil, err
	}
	own, cancel := context.WithCancel(within)
	accepted, done := make(chan struct{}), make(chan struct{})
	t.stop = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		defer contain.End(contain.Leg, func() { within.Cancel(errUnmet) })
		err := stream.Swallow(own, t.rep.Client, q, func() { close(accepted) }, refused)
		if err != nil && own.Err() == nil {
			within.Cancel(fmt.Errorf("%w: %w", errUnmet, err))
		}
	}()
	late := time.NewTimer(t.hop.Accept)
	defer late.Stop()
	select {
	case <-accepted:
	case <-late.C:
	case <-within.Done():
	}
	return within, nil
}
