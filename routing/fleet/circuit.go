package fleet

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// circuit is one gobreaker, and a short way past it for requests that change nothing about when it trips.
type circuit struct {
	*gobreaker.TwoStepCircuitBreaker[struct{}]
	config Breaker
	made   time.Time            // what times are measured from
	bucket time.Duration        // what its window rolls by; 0: it has none
	phase  atomic.Uint64        // changes with the state; odd while it is not closed
	began  atomic.Int64         // when its buckets began, in nanoseconds: no sooner than gobreaker's own
	pass   atomic.Pointer[pass] // of the requests that come now; nil before the first
	counts bool                 // successes, for a ratio
	single bool                 // no two requests may share a pass
	forced atomic.Bool          // the next failure trips it, whatever the counts are: see trip

	// failed grows by one before and after each failure that is reported; clean is what it was when none counted any
	// more.
	failed, clean atomic.Uint64
}

// pass is gobreaker's permission to send a request. While the circuit is closed, all requests of one bucket share one:
// gobreaker would answer all of them alike.
type pass struct {
	circuit *circuit
	done    func(error)
	phase   uint64
	until   int64 // nanoseconds; only of a circuit with buckets
	shared  bool
}

// allow asks for a pass. at is the present time. The error is gobreaker's.
func (c *circuit) allow(at time.Time) (*pass, error) {
	phase, now := c.phase.Load(), int64(0)
	if c.bucket > 0 {
		now = int64(at.Sub(c.made))
	}
	if p := c.pass.Load(); p != nil && p.phase == phase && now < p.until {
		return p, nil
	}
	done, err := c.Allow()
	if err != nil {
		return nil, err
	}
	p := &pass{circuit: c, done: done, phase: phase, until: 1}
	if c.bucket > 0 {
		began := c.began.Load()
		p.until = began + (max(now-began, 0)/int64(c.bucket)+1)*int64(c.bucket)
	}
	if !c.single && phase&1 == 0 && c.phase.Load() == phase { // closed all the while
		p.shared = true
		c.pass.Store(p)
	}
	return p, nil
}

// stateChanged notes a change of state. gobreaker's mutex is held.
func (c *circuit) stateChanged(to gobreaker.State) {
	c.began.Store(int64(time.Since(c.made)))
	phase := (c.phase.Load()>>1 + 1) << 1
	if to != gobreaker.StateClosed {
		phase |= 1
	}
	c.phase.Store(phase)
}

// settle reports how a request with the pass ended.
func (p *pass) settle(o Outcome) {
	c := p.circuit
	switch {
	case !p.shared:
		p.done([...]error{Succeeded: nil, Failed: errFailed, Cancelled: errCancelled}[o])
	case o == Failed:
		c.failed.Add(1)
		p.done(errFailed)
		c.failed.Add(1)
	case o == Succeeded && (c.counts || c.failed.Load() != c.clean.Load()):
		c.succeed(p)
	}
}

// succeed reports a success. The following ones need not be reported once no failure counts any more: all that a
// success does to a closed circuit without a ratio is to end a row of failures.
func (c *circuit) succeed(p *pass) {
	failed := c.failed.Load()
	p.done(nil)
	if n := c.Counts(); n.ConsecutiveFailures == 0 && (n.TotalFailures == 0 || c.bucket == 0) {
		c.clean.Store(failed)
	}
}

// breaker is a replica's circuit, bound to the ejection places of its specialist. gobreaker calls ReadyToTrip and
// OnStateChange under its own mutex: they take pool.mu and never call back into the circuit.
type breaker struct {
	replica *Replica
	pool    *pool
	cb      atomic.Pointer[circuit] // changed under pool.mu only
	gone    bool                    // the replica left; guarded by pool.mu
}

func newBreaker(c Breaker, r *Replica) *breaker {
	b := &breaker{replica: r, pool: r.pool}
	b.renew(c)
	return b
}

// renew installs a closed circuit. Permits of the one before settle there and change nothing here.
func (b *breaker) renew(c Breaker) {
	cb := &circuit{config: c, bucket: c.Window / buckets, counts: c.Ratio > 0}
	cb.single = c.Window > 0 && cb.bucket == 0
	cb.TwoStepCircuitBreaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         b.replica.spec.Name,
		MaxRequests:  uint32(c.Probes),
		Interval:     c.Window,
		BucketPeriod: cb.bucket,
		Timeout:      c.OpenFor,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return cb.trips(n) && b.pool.eject(b, cb) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			cb.stateChanged(to)
			if to == gobreaker.StateClosed {
				b.pool.restore(b, cb)
			}
		},
		IsExcluded: func(err error) bool { return errors.Is(err, errCancelled) },
	})
	cb.made = time.Now()
	b.cb.Store(cb)
}

// buckets is how many steps a window rolls in.
const buckets = 10

func (c *circuit) trips(n gobreaker.Counts) bool {
	if n.ConsecutiveFailures >= uint32(c.config.Failures) || c.forced.Load() {
		return true
	}
	settled := n.TotalSuccesses + n.TotalFailures
	return c.config.Ratio > 0 && settled >= uint32(c.config.MinRequests) &&
		float64(n.TotalFailures) >= c.config.Ratio*float64(settled)
}

// trip opens a breaker that is closed, unless its specialist has no place left for it.
func (b *breaker) trip() {
	cb := b.cb.Load()
	cb.forced.Store(true)
	defer cb.forced.Store(false)
	if done, err := cb.Allow(); err == nil {
		done(errFailed)
	}
}

func (b *breaker) admits() bool {
	cb := b.cb.Load()
	switch cb.State() {
	case gobreaker.StateClosed:
		return true
	case gobreaker.StateHalfOpen:
		n := cb.Counts()
		return n.Requests-min(n.Requests, n.TotalExclusions) < uint32(cb.config.Probes)
	default:
		return false
	}
}
