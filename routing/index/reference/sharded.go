package reference

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// ShardedBlockIndexer is an index.Indexer. Safe for concurrent use: a query takes one shard's read lock at a time and
// no other. Lock order: a host's mu, then one shard's mu.
type ShardedBlockIndexer struct {
	// first in a struct too large for a size class, which begins a page: each has its own cache line
	shards [Shards]shard
	index.Slots
	suspects index.SharedSet  // replicas whose blocks may have holes before them
	below    index.CountedSet // replicas that have stored blocks outside of the GPU since they were last empty
	lookups  atomic.Uint64
	hints    atomic.Uint64
	hosts    [index.MaxHosts]host
}

var _ index.Indexer = (*ShardedBlockIndexer)(nil)

// host is what the index knows of one slot.
type host struct {
	mu         sync.RWMutex // orders this replica's writers, and guards all below
	generation uint32       // how many replicas have had the slot
	order      index.Order
	resyncs    uint64
	tiers      tierMap
	pending    []change // of the batch that is being applied
}

// New returns an empty index without any living replica.
func New(c index.Config) (*ShardedBlockIndexer, error) {
	c, err := c.Filled()
	if err != nil {
		return nil, err
	}
	x := &ShardedBlockIndexer{}
	x.Size(c)
	for i := range x.shards {
		x.shards[i].blocks = map[kvpool.BlockHash]index.HostBitmap{}
	}
	return x, nil
}

// Admit implements index.Lifecycle.
func (x *ShardedBlockIndexer) Admit(id index.HostID) error {
	if !x.Exists(id) {
		return x.OutOfRange(id)
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	fresh, err := x.Occupy(id)
	if fresh {
		h.order, h.resyncs = index.Order{}, 0
		h.generation++
	}
	return err
}

// Sweep implements index.Lifecycle. It clears the replica's bits, and holds a shard for maxHold blocks at a time.
func (x *ShardedBlockIndexer) Sweep(ctx context.Context, id index.HostID) error {
	if !x.Exists(id) {
		return x.OutOfRange(id)
	}
	end, err := x.BeginSweep(ctx, id)
	if err != nil {
		return err
	}
	defer end()
	h := &x.hosts[id]
	h.mu.Lock() // waits for an Apply that began before the slot was retired; a later one finds it dead
	defer h.mu.Unlock()
	switch {
	case x.Reusable(id):
		return nil
	case x.IsAlive(id):
		return fmt.Errorf("%w: host %d", index.ErrAlive, id)
	}
	if err := x.clearBits(ctx, id, h); err != nil {
		return err
	}
	h.tiers, h.pending, h.order.Stale = tierMap{}, nil, false
	x.suspects.Clear(id)
	x.below.Clear(id)
	x.Vacate(id)
	return nil
}

// sweepStep is how many blocks a sweep clears between looks at its ctx.
const sweepStep = 4096

// clearBits removes id from the entry of every block that it holds.
func (x *ShardedBlockIndexer) clearBits(ctx context.Context, id index.HostID, h *host) error {
	for b, r := range h.tiers.blocks {
		if r.tiers != 0 {
			h.pending = append(h.pending, change{b, false})
		}
		if len(h.pending) == sweepStep {
			x.flush(id, h)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	x.flush(id, h)
	return nil
}
