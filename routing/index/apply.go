package index

import "context"

// Apply carries out b unless the replica's (epoch, seq) says that it is old. A greater epoch wipes what the replica
// held. A batch that fits what is already there allocates nothing. Nothing of b is kept: its memory is the caller's
// again.
func (x *Indexer) Apply(b Batch) Outcome {
	if !x.exists(b.Host) {
		return Dead
	}
	h := &x.hosts[b.Host]
	h.mu.Lock()
	defer h.mu.Unlock()
	if !x.alive.has(b.Host) || b.Generation != 0 && b.Generation != h.generation {
		return Dead
	}
	out, wipe := h.order.admit(b.Epoch, b.Seq)
	if out != Applied && out != Gap {
		return out
	}
	if h.order.stale {
		x.stale.set(b.Host)
	}
	if wipe {
		x.wipe(b.Host, h)
	}
	x.carryOut(b.Host, h, b.Ops)
	if !h.order.stale {
		x.stale.clear(b.Host)
		return Applied // after a gap, because of a Clear: the state is known again
	}
	return out
}

// Resync replaces everything that the replica holds by a snapshot taken after its batch seq, and clears stale. A
// snapshot older than the last batch is refused as Duplicate or OldEpoch: replaying the stream from there is up to the
// caller.
func (x *Indexer) Resync(id HostID, epoch, seq uint64, held []TierBlocks) Outcome {
	if !x.exists(id) {
		return Dead
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	if !x.alive.has(id) {
		return Dead
	}
	if out := h.order.snapshot(epoch, seq); out != Applied {
		return out
	}
	x.wipe(id, h)
	x.lock()
	for _, t := range held {
		x.store(id, h, &Op{
			Tier: t.Tier, Blocks: t.Blocks, Parent: t.Parent,
			HasParent: t.HasParent, RootKnown: t.RootKnown, Extents: t.Extents,
		})
	}
	x.tree.mu.Unlock()
	h.resyncs++
	x.stale.clear(id)
	return Applied
}

func (x *Indexer) lock() {
	x.tree.mu.Lock()
	x.tree.locked++
}

// carryOut does ops under one lock, which a Clear lets go of.
func (x *Indexer) carryOut(id HostID, h *copies, ops []Op) {
	for len(ops) > 0 && ops[0].Kind == Shutdown {
		x.Retire(id)
		ops = ops[1:]
	}
	if len(ops) == 0 {
		return // and no lock
	}
	x.lock()
	defer x.tree.mu.Unlock()
	for i := range ops {
		switch op := &ops[i]; op.Kind {
		case Store:
			x.store(id, h, op)
		case Remove:
			x.remove(id, h, op)
		case Clear:
			x.tree.mu.Unlock()
			x.wipe(id, h)
			x.lock()
			h.order.stale = false
		case Shutdown:
			x.Retire(id)
		}
	}
}

// wipe forgets all that a replica holds.
func (x *Indexer) wipe(id HostID, h *copies) {
	x.tree.mu.Lock()
	h.clearTiers(x.tree.mem)
	x.tree.mu.Unlock()
	_ = x.tree.sweep(context.Background(), func() HostBitmap { return HostSet(id) },
		func() bool { return x.tree.held[id] == 0 })
}
