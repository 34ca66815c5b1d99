package fleet

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Replica is one engine that serves one specialist. Safe for concurrent use.
type Replica struct {
	spec     Spec
	states   *states
	pool     *pool
	gone     chan struct{} // closed when it leaves the Fleet
	inFlight atomic.Int64
	source   atomic.Pointer[func() Load]
	breaker  *breaker
	prefills prefills
	watch    atomic.Pointer[watch] // nil while no Monitor watches
	streak   atomic.Int64          // probes or connections failed in a row; changed under stateMu only

	// stateMu orders changes of the replica's bits, and of gone: once gone is closed they are another's.
	stateMu sync.Mutex
	passed  int // signs of life in a row while down; guarded by stateMu
}

// newReplica needs f.mu.
func newReplica(s Spec, f *Fleet) *Replica {
	r := &Replica{spec: s, states: &f.states, pool: f.poolOf(s.Specialist), gone: make(chan struct{})}
	r.breaker = newBreaker(f.config, r)
	r.prefills.now = f.now
	return r
}

// Spec returns the replica's configuration, read-only.
func (r *Replica) Spec() *Spec { return &r.spec }

// Healthy reports whether probes and connections succeed, as far as is known.
func (r *Replica) Healthy() bool { return !r.states.down.has(r.spec.Host) }

// Draining reports whether the replica takes no new requests.
func (r *Replica) Draining() bool { return r.states.draining.has(r.spec.Host) }

// SetDraining starts or ends draining. Requests in flight are not touched. Nothing happens once the replica left the Fleet.
func (r *Replica) SetDraining(on bool) {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
	switch {
	case r.isGone():
	case on:
		r.states.draining.set(r.spec.Host)
	default:
		r.states.draining.clear(r.spec.Host)
	}
}

// Begin counts a request in; End counts it out.
func (r *Replica) Begin() { r.inFlight.Add(1) }

// End counts a request out. More Ends than Begins is a bug and panics.
func (r *Replica) End() {
	if n := r.inFlight.Add(-1); n < 0 {
		panic(fmt.Sprintf("fleet: %s has %d requests in flight", r.spec.Name, n))
	}
}

// InFlight returns the number of requests between Begin and End.
func (r *Replica) InFlight() int { return int(r.inFlight.Load()) }

// LoadFrom sets where Load comes from: something cheap that many goroutines may call. Its InFlight is not used.
func (r *Replica) LoadFrom(source func() Load) { r.source.Store(&source) }

// Load returns how busy the replica is: its source's answer, with the requests between Begin and End as InFlight.
func (r *Replica) Load() (l Load) {
	if source := r.source.Load(); source != nil {
		l = (*source)()
	}
	l.InFlight = r.InFlight()
	return l
}

// leave closes gone: from its return on, no bit is changed on behalf of r.
func (r *Replica) leave() {
	r.stateMu.Lock()
	defer r.stateMu.Unlock()
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
