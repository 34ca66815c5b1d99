package front

import (
	"errors"
	"os"
	"sync"
)

// Handshakes is how clients' TLS handshakes have ended.
type Handshakes struct {
	Done    uint64
	Failed  uint64 // versions, protocols or certificates did not fit, or the client left
	Late    uint64 // not in time
	Crowded uint64 // closed for newer ones
	Plain   uint64 // the client spoke plain HTTP
}

// shakes are the handshakes on their way. Beyond the bound the oldest is given up for a new one: a client that takes
// its time holds up no other.
type shakes struct {
	most int // zero means no limit

	mu    sync.Mutex
	order []*seat // oldest first; guarded by mu, as is ended
	ended Handshakes
	given map[*seat]bool // given up and not ended yet
}

// begin notes a handshake. It returns the one to be closed for it; nil if there is room.
func (h *shakes) begin(s *seat) (crowded *seat) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.most > 0 && len(h.order) >= h.most {
		crowded, h.order = h.order[0], h.order[1:]
		if h.given == nil {
			h.given = map[*seat]bool{}
		}
		h.given[crowded] = true
	}
	h.order = append(h.order, s)
	return crowded
}

// end is begin's end. It returns a word for how the handshake ended, and counts it unless it is this program's own.
func (h *shakes) end(s *seat, own bool, err error) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	crowded := h.given[s]
	delete(h.given, s)
	for i := range h.order {
		if h.order[i] == s {
			h.order = append(h.order[:i], h.order[i+1:]...)
			break
		}
	}
	count, outcome := h.ended.of(err, crowded)
	if !own {
		*count++
	}
	return outcome
}

// of returns the count of handshakes that end like this, and a word for it.
func (h *Handshakes) of(err error, crowded bool) (count *uint64, outcome string) {
	switch {
	case err == nil:
		return &h.Done, "done"
	case crowded:
		return &h.Crowded, "given up for a newer one: limits.handshakes"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &h.Late, "not in time: limits.header_timeout"
	case speaksHTTP(err):
		return &h.Plain, "plain HTTP"
	}
	return &h.Failed, "failed"
}

// HandshakesOf returns how the TLS handshakes of a server have ended; false if it does not speak TLS.
func HandshakesOf(of Bounded) (Handshakes, bool) {
	p, is := of.(*plainServer)
	if !is || p.secure == nil {
		return Handshakes{}, false
	}
	p.shakes.mu.Lock()
	defer p.shakes.mu.Unlock()
	return p.shakes.ended, true
}
