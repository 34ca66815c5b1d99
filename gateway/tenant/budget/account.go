package budget

import (
	"sync"
	"sync/atomic"
	"time"
)

// Limits are what may be used of a day and of a month; zero means no limit.
type Limits struct{ Day, Month int64 }

// Any reports whether there is a limit.
func (l Limits) Any() bool { return l.Day > 0 || l.Month > 0 }

func (l Limits) of(s span) int64 { return [spans]int64{l.Day, l.Month}[s] }

// Sum is one question to the count of all gateways, day first. Owed is added in any case, N to both if that keeps them
// within Limits, where zero is no limit. A count that is not there begins at Known.
type Sum struct {
	Keys   [spans]string
	Lasts  [spans]time.Duration // that a count is to be kept
	Known  [spans]int64
	Owed   [spans]int64
	N      int64
	Limits [spans]int64
}

// Shared is the count of all gateways. An error means that it is not available.
type Shared interface {
	// Sum returns the counts after it, and whether N was added.
	Sum(s Sum) (counts [spans]int64, added bool, err error)
}

// Refusal says which period is used up.
type Refusal struct {
	Span   string // day or month
	Limit  int64
	Left   int64     // of it, before what was asked for
	Never  bool      // more was asked for than Limit
	Resets time.Time // when the next begins; zero if that is no cure: Never, or the count of all gateways is not known
}

// Account is what one tenant has used. Safe for concurrent use.
type Account struct {
	name    string
	shared  Shared // nil if this gateway counts alone
	parts   int    // gateways that share what is left while Shared is not available
	changed *atomic.Bool

	mu     sync.Mutex
	meters [spans]meter // guarded by mu
	away   bool         // the last question to Shared failed; guarded by mu
}

// Check refuses if not one token is left at a time. It takes nothing and asks no other gateway: where counts are shared
// it refuses nothing.
func (a *Account) Check(at time.Time, l Limits) *Refusal {
	if !l.Any() || a.shared != nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refusal(at, 1, l, 1)
}

// Take takes n tokens at a time, or refuses and takes nothing.
func (a *Account) Take(at time.Time, n int64, l Limits) *Refusal {
	a.changed.Store(true)
	if a.shared != nil {
		if said, added := a.ask(at, n, l); said {
			return a.refused(added, at, n, l)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if no := a.refusal(at, n, l, a.parts); no != nil {
		return no
	}
	a.add(at, n)
	return nil
}

// refused is the answer of Take after the count of all gateways.
func (a *Account) refused(added bool, at time.Time, n int64, l Limits) *Refusal {
	if added {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if no := a.refusal(at, n, l, 1); no != nil {
		return no
	}
	for s := range spans { // something was given back meanwhile: the request may come again at once
		if limit := l.of(s); limit > 0 {
			return &Refusal{Span: s.String(), Limit: limit}
		}
	}
	return nil
}

// Add adds n tokens, which may be negative, to the periods of a time that is now or was before.
func (a *Account) Add(at, now time.Time, n int64) {
	if n == 0 {
		return
	}
	a.changed.Store(true)
	if a.shared != nil {
		if said, _ := a.ask(at, n, Limits{}); said {
			return
		}
	}
	a.count(at, now, n)
}

// Hear counts n tokens that another gateway, which counts for itself, has served. What it gives back is at most what
// was heard in the period: it may have been taken in one before, or before this gateway listened.
func (a *Account) Hear(now time.Time, n int64) {
	if n == 0 {
		return
	}
	a.changed.Store(true)
	a.mu.Lock()
	defer a.mu.Unlock()
	for s := range spans {
		c := a.meters[s].at(s.of(now))
		heard := max(n, -c.heard)
		c.own, c.heard = c.own+heard, c.heard+heard
	}
}

// Owe is Add that asks no other gateway: Ledger.Tell, or the next question, tells of it.
func (a *Account) Owe(at, now time.Time, n int64) {
	if n != 0 {
		a.changed.Store(true)
		a.count(at, now, n)
	}
}

func (a *Account) count(at, now time.Time, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for s := range spans {
		// what ends long after it came belongs to a period that is over and forgotten
		if p := s.of(at); p == s.of(now) || a.meters[s].has(p) {
			a.meters[s].at(p).own += n
		}
	}
}

func (a *Account) add(at time.Time, n int64) {
	for s := range spans {
		a.meters[s].at(s.of(at)).own += n
	}
}

// refusal returns why n more do not fit at a time; nil if they do. The longer period comes first: it ends later.
func (a *Account) refusal(at time.Time, n int64, l Limits, parts int) (no *Refusal) {
	for _, s := range [...]span{month, day} {
		c, limit := a.meters[s].at(s.of(at)), l.of(s)
		if limit > 0 && n > limit { // no period is long enough
			return &Refusal{Span: s.String(), Limit: limit, Left: max(limit-c.used(), 0), Never: true}
		}
		if no != nil || c.fits(n, limit, parts) {
			continue
		}
		no = &Refusal{Span: s.String(), Limit: limit, Left: max(limit-c.used(), 0)}
		if !c.fits(n, limit, 1) {
			no.Resets = s.start(c.period + 1)
		}
	}
	return no
}

// ask adds n, and what is owed, to the count of all gateways. said is false if that cannot be had: then nothing has
// changed here. A question whose answer is lost may have been counted all the same: it is owed once more then.
func (a *Account) ask(at time.Time, n int64, l Limits) (said, added bool) {
	q := Sum{N: n}
	a.mu.Lock()
	for s := range spans {
		c := a.meters[s].at(s.of(at))
		q.Keys[s], q.Lasts[s] = key(a.name, s, c.period), lasts[s]
		q.Known[s], q.Owed[s], q.Limits[s] = c.known, c.own, l.of(s)
		c.known, c.own = c.known+c.own, 0
	}
	a.mu.Unlock()
	counts, added, err := a.shared.Sum(q)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = err != nil
	for s := range spans {
		c := a.meters[s].at(s.of(at))
		if err != nil {
			c.known, c.own = c.known-q.Owed[s], c.own+q.Owed[s]
			continue
		}
		c.known = counts[s]
	}
	return err == nil, added
}
