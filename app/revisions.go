package app

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/config"
)

// revisions are the weights that engines say they serve. While a rolling upgrade is under way, a specialist is judged
// by the new ones: answers of the others count neither for nor against it. Where it is rolled back, what is left is
// judged again. They outlive generations.
type revisions struct {
	history *history

	mu     sync.Mutex
	told   map[origin]*atomic.Pointer[string] // guarded by mu like all below; it holds nil until the engine tells
	asked  map[origin]time.Time               // when; absent if the engine has failed a probe since
	served map[string][]origin                // by specialist, of the configuration in force
}

func newRevisions(h *history) *revisions {
	return &revisions{history: h, told: map[origin]*atomic.Pointer[string]{}, asked: map[origin]time.Time{},
		served: map[string][]origin{}}
}

// of returns the variable that holds what the engine told.
func (s *revisions) of(o origin) *atomic.Pointer[string] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.toldBy(o)
}

// toldBy is of under mu.
func (s *revisions) toldBy(o origin) *atomic.Pointer[string] {
	told := s.told[o]
	if told == nil {
		told = new(atomic.Pointer[string])
		s.told[o] = told
	}
	return told
}

// note takes what an engine has told; "" if it told nothing, which changes nothing.
func (s *revisions) note(o origin, revision string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[o] = now
	told := s.toldBy(o)
	if before := told.Load(); revision == "" || before != nil && *before == revision {
		return
	}
	told.Store(&revision)
	for specialist, origins := range s.served {
		if slices.Contains(origins, o) {
			s.judge(specialist, now)
		}
	}
}

// away has the engine asked again when it answers: it may serve other weights by then.
func (s *revisions) away(o origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, o)
}

// due returns true if the engine is to be asked now.
func (s *revisions) due(o origin, now time.Time, every time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, asked := s.asked[o]
	return every > 0 && (!asked || now.Sub(last) >= every)
}

// commit takes the replicas of a configuration that is in force from now on, and forgets all others.
func (s *revisions) commit(cfg *config.Config, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	present := map[origin]bool{}
	clear(s.served)
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		for j := range sp.Replicas {
			o := originOf(&sp.Replicas[j])
			present[o] = true
			s.served[sp.Name] = append(s.served[sp.Name], o)
		}
	}
	gone := func(o origin) bool { return !present[o] }
	maps.DeleteFunc(s.told, func(o origin, _ *atomic.Pointer[string]) bool { return gone(o) })
	maps.DeleteFunc(s.asked, func(o origin, _ time.Time) bool { return gone(o) })
	for specialist := range s.served {
		s.judge(specialist, now)
	}
}

// judge has a specialist judged by the weights that its replicas serve now. Under mu.
func (s *revisions) judge(specialist string, now time.Time) {
	serving := map[string]int{} // replicas
	for _, o := range s.served[specialist] {
		if told := s.toldBy(o).Load(); told != nil {
			serving[*told]++
		}
	}
	if len(serving) > 0 {
		s.history.revise(specialist, serving, now)
	}
}

// revise has a specialist judged by one of the revisions of its weights that so many replicas serve.
func (h *history) revise(specialist string, serving map[string]int, now time.Time) {
	judged, another := h.probation.Serve(now, specialist, serving)
	if another {
		h.log.Info("another revision is judged by itself", "specialist", specialist, "revision", judged)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revisions[specialist] = judged
	if b, ok := h.boards[specialist]; ok {
		b.board.Breaker().Revise(now, judged)
	}
}

// learnRevision asks a healthy engine which weights it serves, if that is due.
func (p prober) learnRevision(ctx context.Context, r *replica) {
	f, _ := p.app.watched.get()
	now := time.Now()
	if !p.app.revisions.due(r.key.origin(), now, f.RevisionInterval) {
		return
	}
	if revision, err := r.client.Revision(ctx, r.key.model); err == nil {
		p.app.revisions.note(r.key.origin(), revision, now)
	}
}
