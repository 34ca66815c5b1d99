package gateway

import (
	"errors"

	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/routing"
)

// errHandover ends the last step's attempt when the step beside it has failed.
var errHandover = errors.New("the engine that was to hand the prompt over has failed")

// prepare makes h a dispatch of s before its Protocol has seen it.
func (x *exchange) prepare(h *ensemble.Hop, s *routing.Step, rep *ensemble.Replica) {
	*h = ensemble.Hop{}
	h.Step, h.Last, h.Replica, h.Answerer = *s, s.Name == x.answering, rep, x.answerer
	h.Step.Ranked = nil // in the route's memory, which ends before the step's attempts do
	h.Client, h.Kind, h.RequestID, h.Path, h.Stream = &x.request.Parsed, x.request.Kind, x.request.ID, x.request.Kind.Path(),
		x.request.Stream
	h.Edits = x.edits(rep, h.NoEdits())
	if !h.Last {
		return
	}
	if x.relay.Cont.Base() == 0 {
		h.Edits = intake.OneCount(&x.request.Parsed, h.Edits)
	}
	if h.Stream {
		h.Edits = x.relay.Cont.Count(h.Edits, &x.request.Parsed, x.request.Kind, &rep.Kind)
	}
}
