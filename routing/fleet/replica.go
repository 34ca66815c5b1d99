package fleet

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// Replica is one engine that serves one specialist. Safe for concurrent use.
type Replica struct {
	ledger   ledger // first what every request looks at, side by side
	source   atomic.Pointer[func() Load]
	sampled  sampled
	prefills prefills
	queued   atomic.Pointer[Queued]
	reported atomic.Pointer[Reported]
	beside   atomic.Pointer[Beside] // nil if there is nothing
	besides  atomic.Uint64          // times that it was noted
	breaker  *breaker
	proved   atomic.Bool  // see Proved
	streak   atomic.Int64 // probes or connections failed in a row; changed under stateMu only
	states   *states

	spec   Spec
	pool   *pool
	gone   chan struct{} // closed when it leaves the Fleet
	last   atomic.Pointer[state]
	pace   pace
	deaths deaths
	busy   busy

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
	r := &Replica{spec: s, states: &f.states, pool: f.poolOf(s.Specialist), gone: make(chan struct{}),
		key: xxh3.HashString(s.Name), rest: new(atomic.Bool)}
	r.sampled.blocks = float64(s.Blocks)
	r.terms, r.breaker = &f.terms, newBreaker(f.terms.Load().Breaker, r)
	r.onHealthChange, r.onWithdrawal = f.onHealthChange, f.onWithdrawal
	return r
}

// Spec returns the replica's configuration, read-only.
func (r *Replica) Spec() *Spec { return &r.spec }

// state is what a replica's bits said when it left the Fleet; later they are those of the next replica in its slot.
type state struct{ down, draining, withdrawn bool }

// Healthy returns true if probes and connections succeed, as far as is known.
func (r *Replica) Healthy() bool {
	down := r.states.down.Has(r.spec.Host)
	if last := r.last.Load(); last != nil { // looked at after the bit, which was its own otherwise
		return !last.down
	}
	return !down
}

// Proved returns true once a probe of the replica, or a request, has succeeded: before, it is healthy on trust.
func (r *Replica) Proved() bool { return r.proved.Load() }

// Draining returns true if the replica takes no new requests.
func (r *Replica) Draining() bool {
	draining := r.states.draining.Has(r.spec.Host)
	if last := r.last.Load(); last != nil { // likewise
		return last.draining
	}
	return draining
}

// Available returns true if the replica is healthy, not draining and not withdrawn.
func (r *Replica) Available() bool { return r.Healthy() && !r.Draining() && !r.Withdrawn() }

// Departed returns true if the replica has left the Fleet: its slot is, or may soon be, another's.
func (r *Replica) Departed() bool { return r.last.Load() != nil }

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

// InFlight returns the number of requests between Begin and End, and of other gateways' that are in the replica's
// batch.
func (r *Replica) InFlight() int {
	n := r.ledger.now().inFlight()
	if b := r.beside.Load(); b != nil {
		n += b.Running
	}
	return n
}

// Key is a hash of the replica's name: the same in every gateway and after every restart.
func (r *Replica) Key() uint64 { return r.key }

// Backlog returns the tokens that have to be computed for requests on their way to the replica or in it, before their
// first tokens.
func (r *Replica) Backlog() int {
	n := int(r.ledger.backlog.Load())
	if b := r.beside.Load(); b != nil {
		n += b.Backlog
	}
	return n
}

// Tokens returns the tokens, of prompts and answers, of the requests on their way to the replica or in it.
func (r *Replica) Tokens() int {
	n := int(r.ledger.tokens.Load())
	if b := r.beside.Load(); b != nil {
		n += b.Tokens
	}
	return n
}

// Pace returns how fast the replica was lately.
func (r *Replica) Pace() Pace { return r.pace.load() }

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
