package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// sessionAffinity scores 1 for the replica to which the session went last and 0 for all others. All get 0 for a new
// session, or for none.
type sessionAffinity struct {
	named
	sessions *Sessions
}

func newSessionAffinity(d Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return sessionAffinity{named{"session-affinity", reads(Fleet, Session)}, d.Sessions}
	}
}

// Score implements routing.Scorer.
func (s sessionAffinity) Score(v routing.View, hosts []index.HostID, out []float64) {
	last, ok := s.sessions.find(v, Fleet.Get(v))
	if !ok {
		return
	}
	for i, h := range hosts {
		if h == last {
			out[i] = 1
		}
	}
}

// Learn implements routing.Learner.
func (s sessionAffinity) Learn(v routing.View, picked index.HostID) {
	s.sessions.note(v, Fleet.Get(v), picked)
}
