package dispatch

import (
	"octet/adapters"
	"octet/gateway/ensemble"
	"octet/gateway/place"
	"octet/routing/fleet"
	"octet/scheduler"
	"octet/scheduler/gate"
)

// steps are the steps of a plan together: which is the answer's, and what those before it hold for it.
type steps struct {
	answering string            // the plan's last step
	single    bool              // it is the only one
	answerer  *ensemble.Replica // the first in rank for it
	protocol  ensemble.Protocol
	beside    *beside         // the step that goes out with the last one; nil if there is none
	unmet     bool            // there was one, and it has failed for good
	held      []place.Place   // of earlier steps, kept for the last one's first token
	adapters  []adapters.Hold // likewise, of those whose engines compute the prompt while the last one waits
}

// holding reports whether steps before the answer still hold anything.
func (s *steps) holding() bool { return s.beside != nil || len(s.held) > 0 }

// hold keeps a turn's place beyond the turn: its engine keeps the blocks for the last step's. Where that is still to
// compute them it keeps the request's adapter, too, unless others decode there: those may hold what the last step is to
// wait for, and wait for this one.
func (s *steps) hold(t *turn) {
	if t.unasked && t.place.Role() == fleet.RolePrefill && t.adapter.Held() {
		s.adapters = append(s.adapters, t.adapter)
		t.adapter = adapters.Hold{}
	}
	s.held = append(s.held, t.place.Detach())
}

// releaseHeld gives back what earlier steps hold. Idempotent.
func (s *steps) releaseHeld() {
	for i := range s.adapters {
		s.adapters[i].Release()
	}
	s.adapters = s.adapters[:0]
	for i := range s.held {
		s.held[i].Release()
	}
	clear(s.held)
	s.held = s.held[:0]
}

// handBack ends all that earlier steps left behind. Idempotent.
func (s *steps) handBack() {
	if s.beside != nil {
		s.endBeside()
	}
	if len(s.held) > 0 {
		s.releaseHeld()
	}
}

// yield gives back places on replicas that others decode on before the request waits for another place: holding one
// replica while queueing for another can deadlock two requests.
func (s *steps) yield(q *gate.Request, at *gate.Gate) {
	if len(s.held) == 0 || at.Probe(*q).State != scheduler.Waiting {
		return
	}
	for i := range s.held {
		if s.held[i].Role() != fleet.RolePrefill {
			s.held[i].Release()
		}
	}
}

// stopBeside ends the leg beside an attempt that is over, and waits for its goroutine.
func (s *steps) stopBeside() {
	if b := s.beside; b != nil && b.cancel != nil {
		b.cancel()
		<-b.done
		b.cancel = nil
	}
}

// endBeside is stopBeside for good.
func (s *steps) endBeside() {
	s.stopBeside()
	s.beside.permit.Settle(fleet.Cancelled)
	s.beside = nil
}
