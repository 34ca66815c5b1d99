package index

import (
	"context"
	"fmt"

	"octet/kvpool"
)

// sweepStep is how many blocks a sweep clears between looks at its ctx.
const sweepStep = 4096

// Admit puts slot h to use: an empty replica without an epoch, in every answer from now on. Admitting a living one
// changes nothing. ErrOutOfRange beyond the cap, ErrUnswept while bits of the slot's last replica may be left; neither
// touches anybody else.
func (x *ShardedBlockIndexer) Admit(id HostID) error {
	h := x.host(id)
	if h == nil {
		return x.outOfRange(id)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.alive.has(id) {
		return nil
	}
	if x.used.has(id) {
		return fmt.Errorf("%w: host %d", ErrUnswept, id)
	}
	h.order, h.resyncs, h.pending = order{}, 0, newChanges()
	h.generation++
	x.used.set(id)
	x.alive.set(id)
	return nil
}

// Sweep clears the bits of the retired replica h, frees its tier maps and the entries without a living holder, and
// makes the slot reusable. It holds a shard for maxHold blocks at a time, and no more than Config.Sweeps run side by
// side. When ctx ends first the slot stays unswept and a later Sweep does the rest. ErrAlive when h is in use; nil when
// there is nothing to sweep.
func (x *ShardedBlockIndexer) Sweep(ctx context.Context, id HostID) error {
	h := x.host(id)
	if h == nil {
		return x.outOfRange(id)
	}
	for _, place := range [...]chan struct{}{h.sweeping, x.sweeps} {
		select {
		case place <- struct{}{}:
			defer func() { <-place }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if x.Reusable(id) {
		return nil
	}
	held, err := x.remains(id, h)
	if err != nil {
		return err
	}
	if err := x.clearBits(ctx, id, held); err != nil {
		return err
	}
	x.free(id, h)
	return nil
}

// remains returns what the retired replica h held. Nothing changes it any more: Apply and Resync find the slot dead.
func (x *ShardedBlockIndexer) remains(id HostID, h *host) (map[kvpool.BlockHash]residency, error) {
	h.mu.Lock() // waits for an Apply that began before the slot was retired
	defer h.mu.Unlock()
	if x.alive.has(id) {
		return nil, fmt.Errorf("%w: host %d", ErrAlive, id)
	}
	return h.tiers.blocks, nil
}

// clearBits takes id's bit off every block of held, which it only reads.
func (x *ShardedBlockIndexer) clearBits(ctx context.Context, id HostID, held map[kvpool.BlockHash]residency) error {
	pending := newChanges()
	for b, r := range held {
		if r.tiers != 0 {
			pending.add(b, false)
		}
		if len(pending.list) == sweepStep {
			pending.flush(x, id)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	pending.flush(x, id)
	return nil
}

// free makes a swept slot as good as new.
func (x *ShardedBlockIndexer) free(id HostID, h *host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tiers, h.pending, h.order.stale = tierMap{}, nil, false
	x.suspects.clear(id)
	x.stale.clear(id)
	x.used.clear(id)
}
