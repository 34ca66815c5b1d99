package fleet

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// Replica is one engine that serves one specialist. Safe for concurrent use.
type Replica struct {
	occupancy // first what every request looks at, side by side
	*breaker
	busy

	proved atomic.Bool  // see Proved
	streak atomic.Int64 // probes or connections failed in a row; changed under stateMu only

	bits
	spec   Spec
	pool   *pool
	gone   chan struct{} // closed when it leaves the Fleet
	deaths deaths

	suspects       suspects
	terms          *atomic.Pointer[Terms]         // the Fleet's
	onHealthChange func(r *Replica, healthy bool) // the Fleet's; may be nil
	onWithdrawal   func(r *Replica, withdrawn bool, why string)
	key            uint64                // see Key
	watch          atomic.Pointer[watch] // nil while no Monitor watches

	// stateMu orders changes of the replica's bits, and of gone: once gone is closed they are another's.
	stateMu    sync.Mutex
	passed     int        // signs of life in a row while down; guarded by stateMu
	withdrawal withdrawal // guarded by stateMu

	rest   *atomic.Bool            // see Rest; shared with those that it replaces at the same URL
	before atomic.Pointer[Replica] // that it has replaced at the same URL; nil once that is quiet

	why atomic.Pointer[Standing] // of withdrawal, for readers without the lock; nil means Serving
}

// newReplica returns a replica of f. The caller holds f.mu.
func newReplica(s Spec, f *Fleet) *Replica {
	r := &Replica{spec: s, bits: bits{states: &f.states, host: s.Host}, pool: f.poolOf(s.Specialist),
		gone: make(chan struct{}), key: xxh3.HashString(s.Name), rest: new(atomic.Bool)}
	r.sampled.blocks = float64(s.Blocks)
	r.terms, r.breaker = &f.terms, newBreaker(f.terms.Load().Breaker, r)
	r.onHealthChange, r.onWithdrawal = f.onHealthChange, f.onWithdrawal
	return r
}

// Spec returns the replica's configuration, read-only.
func (r *Replica) Spec() *Spec { return &r.spec }

// Proved returns true once a probe of the replica, or a request, has succeeded: before, it is healthy on trust.
func (r *Replica) Proved() bool { return r.proved.Load() }

// SetDraining starts or ends draining. Requests in flight are not touched. Nothing happens once the replica left the
// Fleet.
func (r *Replica) SetDraining(on bool) {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	switch {
	case r.isGone():
	case on:
		r.states.draining.Set(r.spec.Host)
	default:
		r.states.draining.Clear(r.spec.Host)
	}
}

// Begin counts a request in; End counts it out.
func (r *Replica) Begin() { r.ledger.change(oneEvent + oneInFlight) }

// End counts a request out. More Ends than Begins is a bug and panics.
func (r *Replica) End() {
	if r.ledger.change(oneEvent-oneInFlight).inFlight() == int(oneWaiting-1) {
		panic(fmt.Sprintf("fleet: %s has -1 requests in flight", r.spec.Name))
	}
}

// Key is a hash of the replica's name: the same in every gateway and after every restart.
func (r *Replica) Key() uint64 { return r.key }

// leave closes gone: from its return on, no bit is changed on behalf of r, or looked at.
func (r *Replica) leave() {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	r.last.Store(&state{!r.Healthy(), r.Draining(), r.Withdrawn()})
	r.states.departures.Add(1)
	close(r.gone)
}

func (r *Replica) isGone() bool {
	select {
	case <-r.gone:
		return true
	default:
		return false
	}
}
