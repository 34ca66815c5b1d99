package fleet

import (
	"errors"
	"sync/atomic"

	"github.com/sony/gobreaker/v2"
)

// circuit is one gobreaker.
type circuit = gobreaker.TwoStepCircuitBreaker[struct{}]

// breaker is a replica's circuit, bound to the ejection places of its specialist. gobreaker calls ReadyToTrip and
// OnStateChange under its own mutex: they take pool.mu and never call back into the circuit.
type breaker struct {
	config  Breaker
	replica *Replica
	pool    *pool
	cb      atomic.Pointer[circuit] // changed under pool.mu only
	gone    bool                    // the replica left; guarded by pool.mu
}

func newBreaker(c Breaker, r *Replica) *breaker {
	b := &breaker{config: c, replica: r, pool: r.pool}
	b.renew()
	return b
}

// renew puts a closed circuit in place. Permits of the one before settle there and change nothing here.
func (b *breaker) renew() {
	var cb *circuit
	cb = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         b.replica.spec.Name,
		MaxRequests:  uint32(b.config.Probes),
		Interval:     b.config.Window,
		BucketPeriod: b.config.Window / 10,
		Timeout:      b.config.OpenFor,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return b.trips(n) && b.pool.eject(b, cb) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateClosed {
				b.pool.restore(b, cb)
			}
		},
		IsExcluded: func(err error) bool { return errors.Is(err, errCancelled) },
	})
	b.cb.Store(cb)
}

func (b *breaker) trips(n gobreaker.Counts) bool {
	if n.ConsecutiveFailures >= uint32(b.config.Failures) {
		return true
	}
	settled := n.TotalSuccesses + n.TotalFailures
	return b.config.Ratio > 0 && settled >= uint32(b.config.MinRequests) &&
		float64(n.TotalFailures) >= b.config.Ratio*float64(settled)
}

func (b *breaker) admits() bool {
	cb := b.cb.Load()
	switch cb.State() {
	case gobreaker.StateClosed:
		return true
	case gobreaker.StateHalfOpen:
		n := cb.Counts()
		return n.Requests-min(n.Requests, n.TotalExclusions) < uint32(b.config.Probes)
	}
	return false
}
