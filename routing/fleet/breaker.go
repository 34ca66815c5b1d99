package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// ErrBreakerOpen is what Take and Allow return while the breaker lets nothing through.
var ErrBreakerOpen = errors.New("fleet: breaker open")

// Breaker is the parameters of the availability breakers. Zero fields take their defaults.
//
// A breaker opens on a failure, when Failures of them came in a row, or when Ratio of at least MinRequests failed
// within Window. It stays open for OpenFor, then lets Probes requests through: when all succeed it closes, when one
// fails it opens again. It opens only while fewer than max(1, floor(MaxEjected × replicas)) of its specialist's
// breakers are not closed: when everything seems broken, trying the rest is better than refusing all. That one may
// always open keeps a lone broken replica from being tried by everyone.
type Breaker struct {
	Failures    int           // default 5
	Ratio       float64       // of failures among settled requests; 0 is off
	MinRequests int           // default 20; only with Ratio
	Window      time.Duration // results older than this count no more; 0 keeps them until the state changes
	OpenFor     time.Duration // default 10 s
	Probes      int           // default 1
	MaxEjected  float64       // share of a specialist's replicas; default 0.5
}

func (b Breaker) withDefaults() Breaker {
	b.Failures = cmp.Or(b.Failures, 5)
	b.MinRequests = cmp.Or(b.MinRequests, 20)
	b.OpenFor = cmp.Or(b.OpenFor, 10*time.Second)
	b.Probes = cmp.Or(b.Probes, 1)
	b.MaxEjected = cmp.Or(b.MaxEjected, 0.5)
	return b
}

// Outcome is what became of a request that a breaker let through.
type Outcome uint8

// Outcomes. Cancelled (the client went away, or a bad request) says nothing about the replica: the permit goes back.
const (
	Succeeded Outcome = iota
	Failed
	Cancelled
)

var (
	errFailed    = errors.New("fleet: request failed")
	errCancelled = errors.New("fleet: request cancelled")
)

// Permit is the right to send one request; it is one goroutine's, and used where it lies. It must be settled; settling
// again, or settling the zero Permit, does nothing. A Permit of a half-open breaker that is never settled occupies a
// probe's place for good.
type Permit struct {
	pass       *pass         // nil: settled
	probation  time.Duration // of a probe: how long its answer must have been coming to count; 0 is no probe
	aliveSince time.Time     // since when it is
}

// Lives notes that the answer to a request is coming; one goroutine calls it. A probe whose answer has been coming for
// as long as a breaker stays open counts as a success from then on, however it ends: an answer that takes an hour does
// not keep a replica out for an hour. For any other request it does nothing.
func (p *Permit) Lives(now time.Time) {
	switch {
	case p.probation == 0:
	case p.aliveSince.IsZero():
		p.aliveSince = now
	case now.Sub(p.aliveSince) >= p.probation:
		p.Settle(Succeeded)
		p.probation = 0
	}
}

// Settle reports how the request ended.
func (p *Permit) Settle(o Outcome) {
	if pass := p.pass; pass != nil {
		p.pass = nil
		pass.settle(o)
	}
}

// Take asks the breaker for a Permit. The error is ErrBreakerOpen.
func (b *breaker) Take() (p Permit, err error) {
	err = b.TakeAt(&p, time.Now())
	return p, err
}

// TakeAt is Take at a time that the caller has just read. It overwrites p, where the Permit is used.
func (b *breaker) TakeAt(p *Permit, now time.Time) error {
	pass, err := b.cb.Load().allow(now)
	if err != nil {
		p.pass, p.probation, p.aliveSince = nil, 0, time.Time{}
		return fmt.Errorf("%w: %s: %w", ErrBreakerOpen, b.replica.spec.Name, err)
	}
	p.pass, p.probation, p.aliveSince = pass, 0, time.Time{}
	if !pass.shared && b.replica.states.tripped.Has(b.replica.spec.Host) {
		p.probation = pass.circuit.config.OpenFor
	}
	return nil
}

// Allow is Take for callers that know success and failure only.
func (b *breaker) Allow() (done func(ok bool), err error) {
	p, err := b.Take()
	if err != nil {
		return nil, err
	}
	return func(ok bool) {
		if ok {
			p.Settle(Succeeded)
		} else {
			p.Settle(Failed)
		}
	}, nil
}

// Admits returns true if Take would succeed now. It changes nothing but what time changes anyway: open to half-open.
func (b *breaker) Admits() bool {
	if !b.replica.states.tripped.Has(b.replica.spec.Host) {
		return true
	}
	return b.admits()
}

// State returns "closed", "half-open" or "open".
func (b *breaker) State() string { return b.cb.Load().State().String() }
