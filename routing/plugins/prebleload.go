package plugins

import (
	"sync"
	"time"

	"octet/routing/fleet"
	"octet/routing/index"
)

// windowSteps is how many steps a window of sent work rolls in.
const windowSteps = 18

// sentWork is the work that was sent to each replica within a window.
type sentWork struct {
	step time.Duration // a windowSteps-th of the window

	mu       sync.Mutex
	accounts [index.MaxHosts]*account // nil before the first request; guarded by mu
}

// account is what was sent to one replica.
type account struct {
	replica uint64  // its Key: the slot may be another's by now
	filled  float64 // blocks of its pool that prompts have filled since the first one
	steps   [windowSteps]sentStep
}

// sentStep is what was sent within one step.
type sentStep struct {
	number int64 // of the step, since the epoch
	sentLoad
}

// sentLoad is the work of some requests.
type sentLoad struct {
	seconds        float64 // of prefill and decode
	prompt, cached float64 // tokens
}

func newSentWork(window time.Duration) *sentWork { return &sentWork{step: window / windowSteps} }

// at returns what was sent to r within the window up to now, and how many blocks of its pool are filled. The caller
// holds mu.
func (s *sentWork) at(r *fleet.Replica, now time.Time) (sum sentLoad, filled float64) {
	a := s.accounts[r.Spec().Host]
	if a == nil || a.replica != r.Key() {
		return sum, 0
	}
	last := s.number(now)
	for i := range a.steps {
		if step := &a.steps[i]; step.number > last-windowSteps && step.number <= last {
			sum.add(step.sentLoad)
		}
	}
	return sum, a.filled
}

// note enters a request that is sent to r.
func (s *sentWork) note(r *fleet.Replica, now time.Time, w sentLoad) {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec := r.Spec()
	a := s.accounts[spec.Host]
	if a == nil || a.replica != r.Key() {
		a = &account{replica: r.Key()}
		s.accounts[spec.Host] = a
	}
	number := s.number(now)
	step := &a.steps[uint64(number)%windowSteps]
	if step.number != number {
		*step = sentStep{number: number}
	}
	step.add(w)
	a.filled = min(a.filled+(w.prompt-w.cached)/float64(max(spec.BlockSize, 1)), float64(spec.Blocks))
}

func (s *sentWork) number(now time.Time) int64 { return now.UnixNano() / int64(s.step) }

func (w *sentLoad) add(other sentLoad) {
	w.seconds += other.seconds
	w.prompt += other.prompt
	w.cached += other.cached
}

// hits returns the share of prompt tokens that were cached.
func (w *sentLoad) hits() float64 {
	if w.prompt <= 0 {
		return 0
	}
	return w.cached / w.prompt
}
