package slo

import (
	"sync"
	"sync/atomic"
	"time"
)

// Duty is what a specialist's answers are good for.
type Duty uint32

// Duties.
const (
	Primary    Duty = iota // its answers go to clients
	ShadowOnly             // demoted: it gets copies of requests, and its answers reach no client
)

// String is the name in /admin/breakers.
func (s Duty) String() string { return [...]string{"primary", "shadow-only"}[s] }

// Verdict is one judgement of one answer. That each counts once is the caller's affair.
type Verdict struct {
	Answered time.Time // when the answer was asked for: where in the window it counts
	Pass     bool
	Kind     string // compile, review, …: what it is published as
	By       string // the tenant that judges; "" is the gateway's own judge, whose share of a window is not bounded
	Revision string // of the weights that answered, as the engine tells it; "" if that is not known
	// of the lane that was asked, as it was declared then, and for a Board of its specialist; "" if that is not known
	Version string
}

// Breaker is the correctness breaker of one specialist. Safe for concurrent use; Standing takes no lock while it is
// Primary.
//
//	          rate certainly below the floor, with and without the bound on each voter's share
//	Primary ──────────────────────────────────▶ ShadowOnly
//	   ▲                                            │ probes: at least min_samples of them, rate at the floor or above
//	   └────────────────────────────────────────────┘ for recover_for on end
//
// Between one change and the next lies recover_for at least, whatever the verdicts.
type Breaker struct {
	floor      float64
	least      int
	recoverFor time.Duration
	probeEvery int

	standing atomic.Uint32
	due      atomic.Int64 // unix nanoseconds of the recovery that is on its way, or 0
	asked    atomic.Int64 // requests that asked Probe since the last one
	probedAt atomic.Int64 // unix nanoseconds

	mu       sync.Mutex
	rolling  votes     // all verdicts of the window: the rate that is published
	kinds    kinds     // the same verdicts apart by kind
	evidence votes     // those on answers since begun: what the breaker goes by
	begun    time.Time // the last demotion or Refresh; zero before the first
	served   time.Time // the last Refresh: what was asked before it is of other weights; zero before the first
	revision string    // of the weights that are judged; "" if no engine has told
	changed  time.Time
	newest   time.Time // arrival of the last probe's verdict
	moves    uint64
	heir     *Breaker // the Breaker that counts in its place; nil if there is none
}

func newBreaker(c CorrectnessConfig, now time.Time) *Breaker {
	return &Breaker{
		floor: c.Floor, least: c.MinSamples, recoverFor: c.RecoverFor, probeEvery: max(int(1/c.ProbeShare+0.5), 1),
		rolling: newVotes(c, now), evidence: newVotes(c, now), kinds: newKinds(c),
	}
}

// Demoted reports whether Standing has anything to say but Primary. It needs no time.
func (l *Breaker) Demoted() bool { return Duty(l.standing.Load()) != Primary }

// Standing returns what is in force at now. A recovery that has come due happens here.
func (l *Breaker) Standing(now time.Time) Duty {
	if s := Duty(l.standing.Load()); s == Primary {
		return s
	}
	if due := l.due.Load(); due != 0 && now.UnixNano() >= due {
		l.mu.Lock()
		l.recover(now)
		l.mu.Unlock()
	}
	return Duty(l.standing.Load())
}

// Count takes a verdict into the windows and draws the consequences.
func (l *Breaker) Count(v Verdict, now time.Time) {
	l.weigh(v, now, func(w *votes) { w.add(now, v) })
}

// Overturn has an answer that counts as passed by one voter's verdict count as failed by v's: an answer is one sample,
// however many kinds of verdict it gets, and passes when all of them pass.
func (l *Breaker) Overturn(v Verdict, passedBy string, now time.Time) {
	l.weigh(v, now, func(w *votes) { w.overturn(now, v, passedBy) })
}

// weigh changes the windows by what v says and draws the consequences.
func (l *Breaker) weigh(v Verdict, now time.Time, change func(*votes)) {
	l = l.current()
	defer l.mu.Unlock()
	if l.foreign(v) {
		return
	}
	change(&l.rolling)
	if v.Answered.Before(l.begun) {
		return // late: of the specialist as it was
	}
	l.recover(now)
	change(&l.evidence)
	if Duty(l.standing.Load()) == Primary {
		l.demote(now)
		return
	}
	l.newest = now
	l.watch(now)
}

// demote ends Primary when even the most that the rate could be is below the floor. Under mu.
func (l *Breaker) demote(now time.Time) {
	if l.cooling(now) || !l.evidence.below(now, l.floor, l.least) {
		return
	}
	l.evidence.reset(now)
	l.begun = now
	l.change(ShadowOnly, now)
}

// watch starts the way back when the probes' rate comes up to the floor, and ends it when the rate falls below. Under
// mu.
func (l *Breaker) watch(now time.Time) {
	switch healthy := l.evidence.reaches(now, l.floor, l.least); {
	case !healthy:
		l.due.Store(0)
	case l.due.Load() == 0:
		l.due.Store(now.Add(l.recoverFor).UnixNano())
	}
}

// recover makes the specialist Primary again when its way back is at its end. Where nothing was heard of it for twice
// the time, it begins anew with the next verdict: silence is not health. Under mu.
func (l *Breaker) recover(now time.Time) {
	due := l.due.Load()
	if due == 0 || now.UnixNano() < due || l.cooling(now) {
		return
	}
	if !l.evidence.reaches(now, l.floor, l.least) || now.Sub(l.newest) > 2*l.recoverFor+time.Second {
		l.due.Store(0)
		return
	}
	l.change(Primary, now) // on the evidence of its probes, to which what comes now is added
}

func (l *Breaker) cooling(now time.Time) bool {
	return !l.changed.IsZero() && now.Sub(l.changed) < l.recoverFor
}

func (l *Breaker) change(to Duty, now time.Time) {
	l.due.Store(0)
	l.probedAt.Store(0)
	l.changed = now
	l.moves++
	l.standing.Store(uint32(to))
}

// probeAtLeast is how long a demoted specialist waits for a probe at most, while requests of its come in.
const probeAtLeast = 10 * time.Second

// Probe says whether a request that would have been the specialist's has to be copied to it, so that it can recover: a
// fixed share of them, and the first after ten seconds without. Never while it is Primary.
func (l *Breaker) Probe(now time.Time) bool {
	if Duty(l.standing.Load()) == Primary {
		return false
	}
	at, last := now.UnixNano(), l.probedAt.Load()
	if l.asked.Add(1) < int64(l.probeEvery) && at-last < int64(probeAtLeast) {
		return false
	}
	if !l.probedAt.CompareAndSwap(last, at) {
		return false // another request's probe is on its way
	}
	l.asked.Store(0)
	return true
}

// Fresh says whether the window holds too little to tell how good the specialist is: it is to be shadowed more, and "no
// history" is not "healthy".
func (l *Breaker) Fresh(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.evidence.sum(now).all < l.least
}

// Refresh forgets the verdicts, as for a new adapter or new weights: what was said of the old ones says nothing of
// these. The standing stays, and a demoted specialist has its way back before it.
func (l *Breaker) Refresh(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(now)
}

// refresh is Refresh under mu.
func (l *Breaker) refresh(now time.Time) {
	l.rolling.reset(now)
	clear(l.kinds.by)
	l.evidence.reset(now)
	l.begun, l.served = now, now
	l.due.Store(0)
}

// BreakerState is a Breaker as GET /admin/breakers shows it.
type BreakerState struct {
	Standing string  `json:"standing"`
	Fresh    bool    `json:"fresh"` // too few verdicts to tell
	Floor    float64 `json:"floor"`
	// verdicts that the breaker goes by, no voter above half: of a demoted one, those on its probes
	Samples     int       `json:"samples"`
	Passed      int       `json:"passed"`
	MinSamples  int       `json:"min_samples"`
	Low         float64   `json:"low"`                  // the true rate is between low and high, with 95 % confidence
	High        float64   `json:"high"`                 // below the floor: demoted
	RecoversAt  time.Time `json:"recovers_at,omitzero"` // if the probes go on as they do
	Since       time.Time `json:"since,omitzero"`       // zero: ever
	Transitions uint64    `json:"transitions"`
}

// State returns the present picture.
func (l *Breaker) State(now time.Time) BreakerState {
	standing := l.Standing(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.evidence.fair(now)
	s := BreakerState{
		Standing: standing.String(), Fresh: c.all < l.least, Floor: l.floor, Samples: c.all, Passed: c.hold,
		MinSamples: l.least, Since: l.changed, Transitions: l.moves,
	}
	s.Low, s.High = c.wilson()
	if due := l.due.Load(); due != 0 {
		s.RecoversAt = time.Unix(0, due).UTC()
	}
	return s
}

// tally returns what the window holds, no voter above half of it.
func (l *Breaker) tally(now time.Time) count {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rolling.fair(now)
}
