package dispatch

import (
	"context"
	"errors"
	"net/http"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/place"
	"octet/gateway/stream"
	"octet/gateway/upstream"
	"octet/routing"
)

// call sends the request and brings the answer so far that the client has its first byte, or all of a unary one.
func (a attempt) call() error {
	t := &a.turn
	defer t.place.Unwatch()
	if err := a.steps.beside.send(a, t.place.Context()); err != nil {
		return err
	}
	hop, err := a.lastHop()
	if err != nil {
		return err
	}
	if t.resp, err = a.ask(t.place.Context(), hop); err != nil {
		a.Taken = a.Taken || !errors.Is(err, engine.ErrConnect) && !errors.Is(err, engine.ErrLocal) // it may have
		return t.place.Cause(a.Relay.Late(t.hurriedBy, err))
	}
	a.Taken = a.Taken || t.resp.Status() == 200
	switch {
	case t.resp.Status() != 200:
		return a.orAsleep(a.report().Refused(t.resp))
	case a.Request.Stream:
		a.takenUp()
		return t.place.Cause(a.orAsleep(a.report().Meaning(a.Relay.Open(a.source()))))
	}
	a.takenUp()
	return t.place.Cause(a.orAsleep(a.report().Meaning(a.Relay.Whole(a.source()))))
}

// orAsleep returns err, or place.ErrAsleep if the engine has refused the request, or given up an answer of which the
// client has nothing, as it sleeps: another gateway may have put it to sleep, or a person.
func (a attempt) orAsleep(err error) error {
	t := &a.turn
	cannot := t.resp.Status() == http.StatusServiceUnavailable
	gaveUp := errors.Is(err, fault.ErrEngineAborted) && !a.Relay.Begun()
	if (cannot || gaveUp) && t.rep.FellAsleep(t.place.Context()) {
		return place.ErrAsleep
	}
	return err
}

// lastHop is what this replica is sent for the answer. An answer that goes on from its text owes nothing to earlier
// steps.
func (a attempt) lastHop() (*ensemble.Hop, error) {
	hop := &a.turn.hop
	a.prepare(hop, &a.turn.step, a.turn.rep)
	a.turn.native = nil
	if a.Relay.Cont.Base() > 0 || a.native(hop) {
		return hop, nil
	}
	err := a.steps.protocol.Request(hop)
	a.turn.handed = hop.Handed
	return hop, err
}

// prepare makes h what a step sends to a replica, before its Protocol has seen it.
func (a attempt) prepare(h *ensemble.Hop, s *routing.Step, rep *ensemble.Replica) {
	*h = ensemble.Hop{}
	h.Step, h.Last, h.Replica, h.Answerer = *s, s.Name == a.steps.answering, rep, a.steps.answerer
	h.NoUsage = a.turn.noUsage
	upstream.Prepare(h, a.Request, a.Plan.Adapter, a.Relay.Cont)
}

// ask sends a hop to its replica. What the Protocol does not change of the client's body is forwarded as it came.
func (a attempt) ask(ctx context.Context, hop *ensemble.Hop) (engine.Response, error) {
	budget, err := a.patience(a.Relay.Delivered())
	if err != nil {
		return nil, err
	}
	segments, err := upstream.Segments(hop, a.Request, a.Request.Segments[:0])
	if err != nil {
		return nil, err
	}
	a.Request.Segments = segments
	a.tell(hop, a.Trace.Ask())
	a.fill(&a.turn.sent, hop, segments, budget)
	if a.Courier != nil && hop.Last {
		a.carried = true
		return a.Courier.Do(ctx, hop.Replica, &a.turn.sent)
	}
	return hop.Replica.Client.Do(ctx, &a.turn.sent)
}

// tell has the engine of a hop be told its part in the request's trace.
func (a attempt) tell(hop *ensemble.Hop, parent string) {
	if a.Trace != nil {
		upstream.Trace(hop, parent, a.Trace.State)
	}
}

// fill makes q what the engine of a hop is asked.
func (a attempt) fill(q *engine.Request, hop *ensemble.Hop, segments [][]byte, budget patience) {
	if a.Relay.Cont.Base() == 0 {
		a.Plan.Hint(hop)
	}
	upstream.Fill(q, hop, a.Request, segments)
	q.Again = a.Shared.Again
	q.At, q.HeaderTimeout, q.IdleTimeout = budget.from, budget.limit, budget.limit
}

// source is the engine whose turn it is.
func (a attempt) source() stream.Source {
	t := &a.turn
	s := stream.Source{
		Engine: &t.rep.Kind, Request: &a.Request.Parsed, Response: t.resp, Place: &t.place, Shape: &t.rep.Answers,
		Rewriter: a.steps.protocol, Context: a.Plan.Specialist.MaxContext(), Board: a.Plan.Specialist.Board,
		Native: t.native, Handed: t.handed, Reasons: t.rep.Reasons(),
		Proved: t.rep.SeenToReason(), FirstTokenBy: t.hurriedBy,
	}
	if a.steps.holding() {
		s.Held = a.steps.holding
	}
	return s
}
