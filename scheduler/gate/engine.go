package gate

import (
	"math"
	"time"

	"octet/scheduler"
)

// engine is what the Model knows of the engine: what runs, on which blocks, and how fast.
type engine struct {
	roster     roster
	ledger     ledger
	rates      rates
	beside     Beside
	shares     Shares // nil if this gateway is alone
	maxRunning int
	origin     time.Time // of every Time
}

// fits reports whether r could start now, and how many blocks it would share. While a block is overcommitted none is
// free, and every request needs one at least, so none fits.
func (e *engine) fits(r *Request, now scheduler.Time) (reuse int, ok bool) {
	if !e.vacant(r, now) {
		return 0, false
	}
	return e.ledger.fits(r)
}

// fitsAtOnce is fits for a request whose shared blocks matter to its deadlines alone: without any, what is free by
// itself answers for a long prompt without a look at its chain.
func (e *engine) fitsAtOnce(r *Request, now scheduler.Time) (reuse int, ok bool) {
	if r.Deadline.IsZero() && r.TTFTDeadline.IsZero() && e.ledger.fitsUnshared(r) {
		return 0, e.vacant(r, now)
	}
	return e.fits(r, now)
}

// vacant reports whether the engine has places for the sequences of r, whatever it holds.
func (e *engine) vacant(r *Request, now scheduler.Time) bool {
	s := r.shape()
	return e.placed(e.roster.sequences, s.sequences(), now)
}

// placed reports whether so many more sequences may run beside those that are running. Beside none any number may.
func (e *engine) placed(running, more int, now scheduler.Time) bool {
	company := running + e.beside.Sequences
	return running == 0 || company+more <= e.maxRunning && company+more <= e.ceiling(company, now)
}

// spare reports whether r has places in the engine, deadlines of others aside.
func (e *engine) spare(r *Request) bool {
	s := r.shape()
	return e.roster.sequences == 0 || e.company()+s.sequences() <= e.maxRunning
}

// missed says what w, whose time is over, was missing.
func (e *engine) missed(w *Waiter, now scheduler.Time) error {
	switch {
	case e.deadline(&w.req) <= max(now, w.expires):
		return scheduler.ErrDeadline
	case e.spare(&w.req):
		return scheduler.ErrKVExhausted
	}
	return scheduler.ErrQueueFull
}

// deadline returns the earliest deadline that passing in the queue breaks; maxTime means never.
func (e *engine) deadline(r *Request) scheduler.Time {
	at := maxTime
	if !r.Deadline.IsZero() {
		at = r.Deadline.Sub(e.origin)
	}
	if !r.TTFTDeadline.IsZero() && r.Resume == 0 {
		at = min(at, r.TTFTDeadline.Sub(e.origin))
	}
	return at
}

// slack returns the time left over at r's tightest deadline if it starts after wait, by the measured rates and the
// safety that they need. What is not measured takes no time, so that ignorance refuses no request.
func (e *engine) slack(r *Request, reuse int, wait time.Duration, now scheduler.Time) time.Duration {
	if r.Deadline.IsZero() && r.TTFTDeadline.IsZero() {
		return math.MaxInt64
	}
	first := wait + e.rates.promised(e.ledger.uncached(r, reuse), e.found(now), wait)
	rest := time.Duration(0)
	if !r.Deadline.IsZero() {
		rest = e.decode(r, e.company())
	}
	return e.left(r, first, rest, now)
}

// found returns how a request finds the engine that starts now.
func (e *engine) found(now scheduler.Time) found {
	others := e.roster.prefilling + e.beside.Backlog
	idle := others == 0 && e.company() == 0
	f := found{others: others, trial: idle && e.rates.outdated(now)}
	if l := e.roster.awaited.eldest; l != nil && l.expected > 0 {
		f.late = max(0, now-l.admitted-e.rates.prefillTime(l))
	}
	return f
}

// decode returns the time for the tokens of r after its first one, beside so many sequences.
func (e *engine) decode(r *Request, beside int) time.Duration {
	s := r.shape()
	company := min(beside+s.sequences(), max(e.maxRunning, s.sequences()))
	return safely(e.rates.rest(max(0, r.MaxNew-s.each(r.Resume)), company), &e.rates.paceError)
}

// left returns the time left over at r's tightest deadline if its first token comes after first, and its last so long
// after that; a large one without a deadline.
func (e *engine) left(r *Request, first, rest time.Duration, now scheduler.Time) time.Duration {
	slack := time.Duration(math.MaxInt64)
	if !r.TTFTDeadline.IsZero() && r.Resume == 0 {
		slack = r.TTFTDeadline.Sub(e.origin) - now - first
	}
	if r.Deadline.IsZero() {
		return slack
	}
	return min(slack, r.Deadline.Sub(e.origin)-now-first-rest)
}

// start makes l run for r, which fits.
func (e *engine) start(l *Lease, r *Request, place place, now scheduler.Time) {
	l.id, l.rank, l.waited, l.admitted, l.tenant = r.ID, place.rank, now-place.queued, now, r.Tenant
	l.adapter = r.Adapter
	l.shape, l.generated, l.maxNew, l.whole = r.shape(), r.Resume, r.MaxNew, r.Whole
	l.resumed = r.Resume
	l.preemptible, l.deadline, l.watcher = r.Victim, maxTime, r.Watcher
	if !r.Deadline.IsZero() {
		l.deadline = r.Deadline.Sub(e.origin)
	}
	e.ledger.open(l, r)
	l.found = e.found(now)
	e.rates.begin(l, now)
	e.roster.add(l)
	e.roster.occupancy.set(e.company(), now)
}

// prefilled notes the first token of l, and measures how long it took.
func (e *engine) prefilled(l *Lease, now scheduler.Time) {
	l.estimate = e.rates.pace.level(float64(e.company()))
	e.rates.observe(l, now)
	e.computed(l, now)
}

// computed notes that the prompt of l is computed, and begins to measure its pace.
func (e *engine) computed(l *Lease, now scheduler.Time) {
	e.begin(l, now)
	l.start(e.roster.occupancy.until(now), now)
	e.ledger.compute(l)
}

// begin notes the first token of l, and has the prompt's blocks ready to be shared.
func (e *engine) begin(l *Lease, now scheduler.Time) {
	e.roster.prefilled(l)
	l.first = max(now, 1)
	e.ledger.seal(l)
}

// grown notes that l has generated so many tokens, more than before.
func (e *engine) grown(l *Lease, tokens int, now scheduler.Time) {
	if came := tokens - max(l.generated, l.atFirst); came > 0 && now > l.reported {
		e.rates.observePace(l, came, e.roster.occupancy.until(now), now)
	}
	l.generated = tokens
	e.ledger.compute(l)
	e.ledger.grow(l, l.step)
}

// answered notes that the whole answer of l came at once. How long prefill took and how fast tokens came cannot be told
// apart then, so neither is measured: a prefill that seems to last as long as an answer would have deadlines refused
// that can be met.
func (e *engine) answered(l *Lease, tokens int, now scheduler.Time) {
	e.computed(l, now)
	l.generated = max(l.generated, tokens)
	l.atFirst = l.generated // there is no pace to judge
	e.ledger.compute(l)
	e.ledger.grow(l, 0)
}

// concluded is answered for a lease that ends at once: the blocks of its answer are not taken to be given back, unless
// content would have had to go for them.
func (e *engine) concluded(l *Lease, tokens int, now scheduler.Time) {
	p := e.ledger.pool
	if p != nil && e.ledger.blocks(l, max(l.generated, tokens), 0)-l.table.Len() > p.Empty() {
		e.answered(l, tokens, now)
		return
	}
	e.begin(l, now)
	l.generated = max(l.generated, tokens)
	l.atFirst = l.generated
}
