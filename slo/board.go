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

	breaker *Breaker

	published atomic.Pointer[publication]

	mu        sync.Mutex
	ring      ring // of the three windows below; guarded by mu like all that follows
	ttft      window
	itl       window
	admission window
	ends      tally              // hold: preempted at least once
	deadlines tally              // hold: missed
	intents   map[string]*window // time to first token by declared intent; at most maxIntents
	newest    time.Time          // of any observation but outcomes; the Board's beginning before the first
}

// NewBoard returns an empty Board.
func NewBoard(cfg Config) *Board {
	cfg = cfg.withDefaults()
	now := cfg.Now()
	return &Board{
		cfg: cfg, ring: newRing(cfg.Window, slots, now), ttft: newWindow(), itl: newWindow(), admission: newWindow(),
		ends: newTally(cfg.Window, slots, now), deadlines: newTally(cfg.Window, slots, now),
		breaker: newBreaker(cfg.Correctness, now),
		intents: map[string]*window{}, newest: now,
	}
}

// Breaker is the specialist's correctness breaker.
func (b *Board) Breaker() *Breaker { return b.breaker }

// ObserveTTFT counts, at now, the time from a request's arrival to its first token.
func (b *Board) ObserveTTFT(now time.Time, d time.Duration) { b.observe(now, &b.ttft, d) }

// ObserveAdmission counts, at now, the time from a request's admission to its first token.
func (b *Board) ObserveAdmission(now time.Time, d time.Duration) { b.observe(now, &b.admission, d) }

// ObserveITL counts times between one token and the next. Streams use Gaps, which calls it with many at a time.
func (b *Board) ObserveITL(ds ...time.Duration) { b.observe(b.cfg.Now(), &b.itl, ds...) }

// maxIntents bounds the intents that have a window of their own; those of the configuration are fewer.
const maxIntents = 64

// ObserveIntent counts the time to the first token of a request that declared an intent, beside ObserveTTFT.
func (b *Board) ObserveIntent(now time.Time, intent string, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.intents[intent]
	if w == nil {
		if len(b.intents) == maxIntents {
			return
		}
		made := newWindow()
		w = &made
		b.intents[intent] = w
	}
	b.roll(now)
	w.add(int(b.ring.now%slots), d)
}

func (b *Board) observe(now time.Time, w *window, ds ...time.Duration) {
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
func (b *Board) ObserveEnd(now time.Time, preempted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends.add(now, preempted)
	b.newest = now
}

// ObserveDeadline counts a request that had declared a deadline, and whether it was missed.
func (b *Board) ObserveDeadline(now time.Time, missed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadlines.add(now, missed)
	b.newest = now
}

// Outcome counts a verdict on an answer, for the rate that is published and for the Breaker.
func (b *Board) Outcome(v Verdict) { b.give(Given{Verdict: v}) }

// Overturn has an answer that passed by one voter's verdict fail by another's.
func (b *Board) Overturn(v Verdict, passedBy string) {
	b.give(Given{Verdict: v, Overturn: true, PassedBy: passedBy})
}

// roll empties the slots that are older than the window. Under mu.
func (b *Board) roll(now time.Time) {
	for from, to := b.ring.advance(now, slots); from < to; from++ {
		at := int(from % slots)
		b.ttft.clear(at)
		b.itl.clear(at)
		b.admission.clear(at)
		for _, w := range b.intents {
			w.clear(at)
		}
	}
}
