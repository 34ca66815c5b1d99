package belief

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

const (
	// expectedPrompts is how many routed prompts of one replica are remembered until a block of one is stored there.
	expectedPrompts = 32

	// unmetPrompts is how many of them have to stay away for patience, and strangeStores how many stores of other
	// blocks have to come then, before the replica is a misfit. Remembered prompts are patience/unmetPrompts apart, so
	// that the older half of them has been waited for.
	unmetPrompts  = 16
	strangeStores = 16
)

// expected is a prompt that was sent to a replica whose engine names blocks as the prompt's chain does, if both hash
// alike: sooner or later it stores the last block, or one that follows it, or the first.
type expected struct {
	first, last kvpool.BlockHash
	at          time.Time // when it was routed
}

// expectations compare what was routed to one replica with what it stores, in one life of its engine.
//
//	nothing of what was routed for patience, and other blocks are stored ─▶ misfit
//	a block of what was routed                                           ─▶ fits, for this life
//
// So events may be late by patience. Other gateways' prompts prove nothing by themselves, nor does an idle engine. An
// engine does not store again what is in its cache: that is why several prompts have to stay away, all of them
// different. A misfit ends as soon as a block of what was routed is stored.
type expectations struct {
	fits   atomic.Bool
	misfit atomic.Bool

	mu      sync.Mutex
	pending []expected // guarded by mu; oldest first, each with another last block
	strange int        // guarded by mu; stores that came while unmetPrompts prompts had stayed away for patience
}

// add notes that a prompt was routed. Of many in a short time it takes one.
func (e *expectations) add(chain []kvpool.BlockHash, now time.Time, patience time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := expected{chain[0], chain[len(chain)-1], now}
	if n := len(e.pending); n > 0 && now.Sub(e.pending[n-1].at) < patience/unmetPrompts {
		return
	}
	if slices.ContainsFunc(e.pending, func(other expected) bool { return other.last == p.last }) {
		return
	}
	if len(e.pending) == expectedPrompts {
		e.pending = slices.Delete(e.pending, 0, 1)
	}
	e.pending = append(e.pending, p)
}

// hear compares what a replica stores with what was routed there.
func (e *expectations) hear(ops []index.Op, now time.Time, patience time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	others := 0
	for i := range ops {
		op := &ops[i]
		if op.Kind != index.Store {
			continue
		}
		if e.meets(op) {
			e.settle()
			return
		}
		others++
	}
	unmet := func(p expected) bool { return now.Sub(p.at) >= patience }
	if len(e.pending) >= unmetPrompts && unmet(e.pending[unmetPrompts-1]) {
		if e.strange += others; e.strange >= strangeStores {
			e.misfit.Store(true)
		}
	}
}

// meets returns true if op stores, or goes on from, a block that is waited for.
func (e *expectations) meets(op *index.Op) bool {
	return slices.ContainsFunc(e.pending, func(p expected) bool {
		return op.HasParent && op.Parent == p.last || slices.Contains(op.Blocks, p.last) ||
			slices.Contains(op.Blocks, p.first)
	})
}

// settle ends the comparison: the replica stores what is routed there.
func (e *expectations) settle() {
	e.pending, e.strange = nil, 0
	e.misfit.Store(false)
	e.fits.Store(true)
}

// renew begins the comparison for another life of the engine, or another replica.
func (e *expectations) renew() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle()
	e.fits.Store(false)
}

// Expect notes that a prompt was sent to a replica whose engine is said to name blocks as chain does. It is one load
// once that has been seen to be so.
func (b *Beliefs) Expect(id index.HostID, chain []kvpool.BlockHash, now time.Time) {
	e := &b.expected[id]
	chain = b.kept(id, chain)
	if len(chain) == 0 || e.fits.Load() || b.Patience() <= 0 {
		return
	}
	var out [index.MaxHosts]uint16
	if b.Index.Depths(chain[:1], index.HostSet(id), &out); out[id] > 0 { // its events told of this very block
		e.mu.Lock()
		e.settle()
		e.mu.Unlock()
		return
	}
	e.add(chain, now, b.Patience())
}

// compare holds what a replica publishes against what was routed there. It comes before the batch's epoch is noted.
func (b *Beliefs) compare(batch *index.Batch) {
	e := &b.expected[batch.Host]
	if last := b.epochs[batch.Host].Load(); last != 0 && last != batch.Epoch+1 {
		e.renew()
	}
	if e.fits.Load() {
		return
	}
	if patience := b.Patience(); patience > 0 {
		e.hear(batch.Ops, b.now(), patience)
	}
}

// Misfits returns the replicas that store nothing of what is routed there: their engines name blocks otherwise than the
// prompts' chains do. It ends with the engine's life, or with the first block that fits.
func (b *Beliefs) Misfits() (all index.HostBitmap) {
	for id := range b.expected {
		if b.expected[id].misfit.Load() {
			all.Set(index.HostID(id))
		}
	}
	return all
}
