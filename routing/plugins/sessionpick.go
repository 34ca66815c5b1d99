package plugins

import (
	"slices"

	"octet/routing"
	"octet/routing/index"
)

// session picks the replica to which the session went last, whatever the scores; where that is no candidate, or the
// session is new, the best. The others follow by score.
type session struct {
	named
	keep     int
	sessions *Sessions
}

// newSession: keep as for max-score.
func newSession(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return session{named{"session", reads(Fleet, Session)}, keepParam(p), d.Sessions}
	}
}

// Pick implements routing.Picker.
func (s session) Pick(v routing.View, scored []routing.Scored) []routing.Scored {
	byScore := func(_ int, s routing.Scored) float64 { return s.Score }
	last, ok := s.sessions.find(v, Fleet.Get(v))
	at := slices.IndexFunc(scored, func(c routing.Scored) bool { return ok && c.Host == last })
	if at < 0 {
		return best(scored, s.keep, byScore)
	}
	sticky := scored[at]
	copy(scored[1:at+1], scored[:at])
	scored[0] = sticky
	rest := best(scored[1:], s.keep-1, byScore)
	return scored[:1+len(rest)]
}

// Learn implements routing.Learner.
func (s session) Learn(v routing.View, picked index.HostID) { s.sessions.note(v, Fleet.Get(v), picked) }
