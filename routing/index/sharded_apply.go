package index

import "octet/kvpool"

// Apply carries out b unless the replica's (epoch, seq) says that it is old. A greater epoch wipes what the replica
// held. Each shard that b touches is locked once for up to maxHold of b's blocks; a batch that fits what is already
// there allocates nothing. Nothing of b is kept: its memory is the caller's again.
func (x *ShardedBlockIndexer) Apply(b Batch) Outcome {
	h := x.host(b.Host)
	if h == nil {
		return Dead
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !x.alive.has(b.Host) || b.Generation != 0 && b.Generation != h.generation {
		return Dead
	}
	out, wipe := h.order.admit(b.Epoch, b.Seq)
	if out != Applied && out != Gap {
		return out
	}
	if wipe {
		h.wipe()
	}
	for i := range b.Ops {
		x.apply(b.Host, h, &b.Ops[i])
	}
	x.publish(b.Host, h)
	if out == Gap && !h.order.stale {
		return Applied // a Clear after the gap: the state is known again
	}
	return out
}

// Resync replaces everything that the replica holds by a snapshot taken after its batch seq, and clears stale. A
// snapshot older than the last batch is refused as Duplicate or OldEpoch: replaying the stream from there is up to the
// caller.
func (x *ShardedBlockIndexer) Resync(id HostID, epoch, seq uint64, held []TierBlocks) Outcome {
	h := x.host(id)
	if h == nil {
		return Dead
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !x.alive.has(id) {
		return Dead
	}
	if out := h.order.snapshot(epoch, seq); out != Applied {
		return out
	}
	h.wipe()
	for _, t := range held {
		h.store(&Op{
			Tier: t.Tier, Blocks: t.Blocks, Parent: t.Parent,
			HasParent: t.HasParent, RootKnown: t.RootKnown, Extents: t.Extents,
		})
	}
	h.resyncs++
	x.publish(id, h)
	return Applied
}

func (x *ShardedBlockIndexer) apply(id HostID, h *host, op *Op) {
	switch op.Kind {
	case Store:
		h.store(op)
	case Remove:
		h.remove(op)
	case Clear:
		h.wipe()
		h.order.stale = false
	case Shutdown:
		x.Retire(id)
	}
}

// publish brings the index and its marks to what h holds. A mark of doubt is raised before the first block changes and
// lowered after the last, so that a query that sees the blocks sees the doubt.
func (x *ShardedBlockIndexer) publish(id HostID, h *host) {
	doubt, stale := h.tiers.detached > 0, h.order.stale
	if doubt {
		x.suspects.set(id)
	}
	if stale {
		x.stale.set(id)
	}
	h.pending.flush(x, id)
	if !doubt {
		x.suspects.clear(id)
	}
	if !stale {
		x.stale.clear(id)
	}
}

func (h *host) store(op *Op) {
	if op.Tier >= Tiers {
		return
	}
	place := claim{parent: op.Parent}
	chained := op.HasParent || op.RootKnown
	switch {
	case op.HasParent:
		place.origin = child
	case op.RootKnown:
		place.origin = root
	}
	for i, b := range op.Blocks {
		if h.tiers.hold(b, op.Tier, place, h.salt) {
			h.pending.add(b, true)
		}
		if i < len(op.Extents) {
			h.tiers.locate(b, op.Tier, op.Extents[i])
		}
		if chained {
			place = claim{origin: child, parent: b}
		}
	}
}

func (h *host) remove(op *Op) {
	if op.Tier >= Tiers {
		return
	}
	for _, b := range op.Blocks {
		if h.tiers.drop(b, op.Tier, h.salt) {
			h.pending.add(b, false)
		}
	}
}

// wipe forgets all that h holds.
func (h *host) wipe() {
	h.tiers.wipe(func(b kvpool.BlockHash) { h.pending.add(b, false) })
}
