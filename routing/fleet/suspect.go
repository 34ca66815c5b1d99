package fleet

import (
	"slices"
	"sync"
	"sync/atomic"
)

// suspects are the requests that a replica has failed since it last answered one, if no other replica could tell
// whether the request was at fault. The same request again counts once.
type suspects struct {
	some atomic.Bool // keys has any

	mu   sync.Mutex
	keys []uint64 // at most as many as open a breaker; guarded by mu
}

// Suspect settles the permit of a request, known by key, that the replica reported as failed by itself: as a failure
// where the request is another than those that it has failed since its last answer.
func (r *Replica) Suspect(p *Permit, key uint64) {
	if r.suspects.add(key, r.terms.Load().Breaker.Failures) {
		p.Settle(Failed)
		return
	}
	p.Settle(Cancelled)
}

// add returns true if key is new.
func (s *suspects) add(key uint64, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.keys, key) {
		return false
	}
	if len(s.keys) >= most {
		s.keys = slices.Delete(s.keys, 0, 1)
	}
	s.keys = append(s.keys, key)
	s.some.Store(true)
	return true
}

// clear forgets them: the replica has answered.
func (s *suspects) clear() {
	if !s.some.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = s.keys[:0]
	s.some.Store(false)
}
