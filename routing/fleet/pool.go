package fleet

import (
	"slices"
	"sync"
)

// pool is the replicas of one specialist, as far as their breakers bind each other: how many may be ejected at once.
// Lock order: Fleet.mu, then a circuit's own mutex, then pool.mu.
type pool struct {
	mu      sync.Mutex
	share   float64    // of the members; guarded by mu
	members int        // guarded by mu
	ejected []*breaker // not closed, in the order in which they tripped; guarded by mu
}

func (p *pool) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members++
}

// leave removes r. If that leaves fewer places than breakers hold, the ones that tripped last close.
func (p *pool) leave(r *Replica) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members--
	r.breaker.gone = true
	p.drop(r.breaker)
	for len(p.ejected) > p.places() {
		last := p.ejected[len(p.ejected)-1]
		p.drop(last)
		last.renew(last.cb.Load().config)
	}
}

// renew gives the breakers of all members new parameters, and begins their counts anew. Those that are not closed open
// by the new ones, in the order in which they tripped, as far as there are places.
func (p *pool) renew(c Breaker, members []*Replica) {
	p.mu.Lock()
	p.share = c.MaxEjected
	tripped := slices.Clone(p.ejected)
	for _, r := range members {
		p.drop(r.breaker)
		r.breaker.renew(c)
	}
	p.mu.Unlock()
	for _, b := range tripped {
		b.trip()
	}
}

// eject gives b a place, if there is one and cb is still its circuit.
func (p *pool) eject(b *breaker, cb *circuit) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.gone || b.cb.Load() != cb || len(p.ejected) >= p.places() {
		return false
	}
	p.ejected = append(p.ejected, b)
	b.replica.states.tripped.Set(b.replica.spec.Host)
	return true
}

// restore takes b's place back if cb is still its circuit.
func (p *pool) restore(b *breaker, cb *circuit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.cb.Load() == cb {
		p.drop(b)
	}
}

// drop frees b's place. The caller holds mu.
func (p *pool) drop(b *breaker) {
	if i := slices.Index(p.ejected, b); i >= 0 {
		p.ejected = slices.Delete(p.ejected, i, i+1)
		b.replica.states.tripped.Clear(b.replica.spec.Host)
	}
}

// places is how many breakers may be open or half-open. The caller holds mu.
func (p *pool) places() int { return max(1, int(p.share*float64(p.members))) }
