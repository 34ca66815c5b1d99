package slo

import (
	"sync"
	"sync/atomic"
	"time"
)

// correctnessSlots divide the correctness window: a day into quarters of an hour.
const correctnessSlots = 96

// Board keeps one specialist's windows. Safe for concurrent use.
type Board struct {
	cfg Config

	published atomic.Pointer[publication]

	mu        sync.Mutex
	ring      ring // of the three windows below; guarded by mu like all that follows
	ttft      window
	itl       window
	admission window
	ends      tally     // hold: preempted at least once
	outcomes  tally     // hold: passed
	newest    time.Time // of any observation but outcomes; the Board's beginning before the first
}

// NewBoard returns an empty Board.
func NewBoard(cfg Config) *Board {
	cfg = cfg.withDefaults()
	now := cfg.Now()
	return &Board{
		cfg: cfg, ring: newRing(cfg.Window, slots, now), ttft: newWindow(), itl: newWindow(), admission: newWindow(),
		ends: newTally(cfg.Window, slots, now), outcomes: newTally(cfg.Correctness.Window, correctnessSlots, now), newest: now,
	}
}

// ObserveTTFT counts the time from a request's arrival to its first token.
func (b *Board) ObserveTTFT(d time.Duration) { b.observe(&b.ttft, d) }

// ObserveAdmission counts the time from a request's admission to its first token.
func (b *Board) ObserveAdmission(d time.Duration) { b.observe(&b.admission, d) }

// ObserveITL counts times between one token and the next. Streams use Gaps, which calls it with many at a time.
func (b *Board) ObserveITL(ds ...time.Duration) { b.observe(&b.itl, ds...) }

func (b *Board) observe(w *window, ds ...time.Duration) {
	now := b.cfg.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roll(now)
	at := int(b.ring.now % slots)
	for _, d := range ds {
		w.add(at, d)
	}
	b.newest = now
}

// ObserveEnd counts an answer that came to its end, and whether it was preempted on the way.
func (b *Board) ObserveEnd(preempted bool) {
	now := b.cfg.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends.add(now, preempted)
	b.newest = now
}

// Outcome counts a verdict on an answer. That each counts once is the caller's affair.
func (b *Board) Outcome(pass bool) {
	now := b.cfg.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outcomes.add(now, pass)
}

// roll empties the slots that are older than the window. Under mu.
func (b *Board) roll(now time.Time) {
	for from, to := b.ring.advance(now, slots); from < to; from++ {
		at := int(from % slots)
		b.ttft.clear(at)
		b.itl.clear(at)
		b.admission.clear(at)
	}
}
