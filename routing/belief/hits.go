package belief

import "sync"

const (
	hitMemory = 63.0 / 64 // by how much an answer counts less after the next one

	// A partly known replica is exact once so many answers with hits have come since batches were lost, and so much of
	// their tokens was known.
	provenHits  = 32
	provenShare = 0.97

	// It is approximate again once less than that was known: what is hit is from before they were lost.
	refutedShare = 0.85

	// Its guesses do not count once less than deniedShare of them come true, and again from confirmedShare on, both by
	// so many answers at least.
	judgedGuesses  = 8
	deniedShare    = 0.4
	confirmedShare = 0.6
)

// hits compare what was known and guessed of one replica's cache with what its engine delivered. All sums are of
// tokens, and old answers count less and less.
type hits struct {
	mu        sync.Mutex
	answers   int     // with delivered hits; guarded by mu
	guesses   int     // answers for which something was guessed beyond what was known; guarded by mu
	delivered float64 // guarded by mu
	known     float64 // of those, the known ones; guarded by mu
	supposed  float64 // guessed beyond what was known; guarded by mu
	confirmed float64 // of those, the delivered ones; guarded by mu
}

// renew forgets everything.
func (h *hits) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers, h.guesses, h.delivered, h.known, h.supposed, h.confirmed = 0, 0, 0, 0, 0, 0
}

// note adds one answer.
func (h *hits) note(known, all, delivered float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if delivered > 0 {
		h.answers++
		h.delivered = h.delivered*hitMemory + delivered
		h.known = h.known*hitMemory + min(known, delivered)
	}
	if all > known {
		h.guesses++
		h.supposed = h.supposed*hitMemory + all - known
		h.confirmed = h.confirmed*hitMemory + max(min(all, delivered)-known, 0)
	}
}

func (h *hits) share() (float64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return ratio(h.known, h.delivered)
}

func (h *hits) guessed() (float64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return ratio(h.confirmed, h.supposed)
}

// proven returns true if nearly all that is delivered is known.
func (h *hits) proven() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answers >= provenHits && h.known >= provenShare*h.delivered
}

// refuted returns true if too much of what is delivered is unknown.
func (h *hits) refuted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known < refutedShare*h.delivered
}

// deny returns true if most guesses do not come true.
func (h *hits) deny() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.guesses >= judgedGuesses && h.confirmed < deniedShare*h.supposed
}

// confirm returns true if most guesses come true.
func (h *hits) confirm() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.guesses >= judgedGuesses && h.confirmed >= confirmedShare*h.supposed
}

func ratio(part, whole float64) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return part / whole, true
}
