package reference

import (
	"octet/routing/index"
)

// keepChanges is how many changes a host's buffer holds on to between batches; larger ones are given back.
const keepChanges = 1 << 14

// Apply implements index.Writer. Each shard that b touches is locked once for up to maxHold of b's blocks.
func (x *ShardedBlockIndexer) Apply(b index.Batch) index.Outcome {
	if !x.Exists(b.Host) {
		return index.Dead
	}
	h := &x.hosts[b.Host]
	h.mu.Lock()
	defer h.mu.Unlock()
	if !x.IsAlive(b.Host) || b.Generation != 0 && b.Generation != h.generation {
		return index.Dead
	}
	out, wipe := h.order.Admit(&b)
	if out != index.Applied && out != index.Gap {
		return out
	}
	if wipe {
		x.wipe(b.Host, h)
	}
	for i := range b.Ops {
		x.apply(b.Host, h, &b.Ops[i])
	}
	x.publish(b.Host, h)
	if out == index.Gap && !h.order.Stale {
		return index.Applied // a Clear after the gap: the state is known again
	}
	return out
}

// Resync implements index.Writer.
func (x *ShardedBlockIndexer) Resync(id index.HostID, epoch, seq uint64, held []index.TierBlocks) index.Outcome {
	if !x.Exists(id) {
		return index.Dead
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	if !x.IsAlive(id) {
		return index.Dead
	}
	if out := h.order.Snapshot(epoch, seq); out != index.Applied {
		return out
	}
	x.wipe(id, h)
	for _, t := range held {
		x.store(id, h, &index.Op{
			Tier: t.Tier, Blocks: t.Blocks, Parent: t.Parent, HasParent: t.HasParent, RootKnown: t.RootKnown,
		})
	}
	h.resyncs++
	x.publish(id, h)
	return index.Applied
}

func (x *ShardedBlockIndexer) apply(id index.HostID, h *host, op *index.Op) {
	switch op.Kind {
	case index.Store:
		x.store(id, h, op)
	case index.Remove:
		h.remove(op)
	case index.Clear:
		x.wipe(id, h)
		h.order.Stale = false
	case index.Shutdown:
		x.Retire(id)
	case index.Forget:
		x.wipe(id, h)
	case index.Fresh:
		h.order.Stale = false
	}
}

// publish brings the shards and the marks to what h holds. A suspect is marked before the first block changes and
// unmarked after the last, so that a query that sees the blocks sees the mark.
func (x *ShardedBlockIndexer) publish(id index.HostID, h *host) {
	suspect, stale := h.tiers.detached > 0, h.order.Stale
	if suspect {
		x.suspects.Set(id)
	}
	if stale {
		x.SetStale(id, true)
	}
	x.flush(id, h)
	if cap(h.pending) > keepChanges {
		h.pending = nil
	}
	if !suspect {
		x.suspects.Clear(id)
	}
	if !stale {
		x.SetStale(id, false)
	}
}

func (x *ShardedBlockIndexer) store(id index.HostID, h *host, op *index.Op) {
	if op.Tier >= index.Tiers {
		return
	}
	if op.Tier != index.GPU {
		x.below.Set(id)
	}
	place := claim{parent: op.Parent}
	switch {
	case op.HasParent:
		place.origin = child
	case op.RootKnown:
		place.origin = root
	}
	for _, b := range op.Blocks {
		if h.tiers.hold(b, op.Tier, place) {
			h.pending = append(h.pending, change{b, true})
		}
		if place.origin != loose {
			place = claim{origin: child, parent: b}
		}
	}
}

func (h *host) remove(op *index.Op) {
	if op.Tier >= index.Tiers {
		return
	}
	for _, b := range op.Blocks {
		if h.tiers.drop(b, op.Tier) {
			h.pending = append(h.pending, change{b, false})
		}
	}
}

// wipe removes all that h holds.
func (x *ShardedBlockIndexer) wipe(id index.HostID, h *host) {
	for b, r := range h.tiers.blocks {
		if r.tiers != 0 {
			h.pending = append(h.pending, change{b, false})
		}
	}
	clear(h.tiers.blocks)
	h.tiers.held, h.tiers.detached = 0, 0
	x.below.Clear(id)
}
