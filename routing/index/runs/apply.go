package runs

import (
	"context"

	"octet/routing/index"
)

// Apply implements index.Writer.
func (x *Indexer) Apply(b index.Batch) index.Outcome {
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
	if h.order.Stale {
		x.SetStale(b.Host, true)
	}
	if wipe {
		x.wipe(b.Host, h)
	}
	x.carryOut(b.Host, h, b.Ops)
	if !h.order.Stale {
		x.SetStale(b.Host, false)
		return index.Applied // after a gap, because of a Clear: the state is known again
	}
	return out
}

// Resync implements index.Writer.
func (x *Indexer) Resync(id index.HostID, epoch, seq uint64, held []index.TierBlocks) index.Outcome {
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
	x.lock()
	for _, t := range held {
		x.store(id, h, &index.Op{
			Tier: t.Tier, Blocks: t.Blocks, Parent: t.Parent,
			HasParent: t.HasParent, RootKnown: t.RootKnown,
		})
	}
	x.tree.mu.Unlock()
	h.resyncs++
	x.SetStale(id, false)
	return index.Applied
}

func (x *Indexer) lock() {
	x.tree.mu.Lock()
	x.tree.locked++
}

// carryOut carries out ops under one lock, which a Clear releases for a time.
func (x *Indexer) carryOut(id index.HostID, h *hostTiers, ops []index.Op) {
	for len(ops) > 0 && ops[0].Kind == index.Shutdown {
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
		case index.Store:
			x.store(id, h, op)
		case index.Remove:
			x.remove(id, h, op)
		case index.Clear, index.Forget:
			x.tree.mu.Unlock()
			x.wipe(id, h)
			x.lock()
			h.order.Stale = h.order.Stale && op.Kind == index.Forget
		case index.Fresh:
			h.order.Stale = false
		case index.Shutdown:
			x.Retire(id)
		}
	}
}

// wipe removes all that a replica holds.
func (x *Indexer) wipe(id index.HostID, h *hostTiers) {
	x.tree.mu.Lock()
	x.clearTiers(id, h)
	x.tree.mu.Unlock()
	_ = x.tree.sweep(context.Background(), func() index.HostBitmap { return index.HostSet(id) },
		func() bool { return x.tree.held[id] == 0 })
}
