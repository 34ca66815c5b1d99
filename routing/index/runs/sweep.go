package runs

import (
	"context"
	"fmt"

	"octet/routing/index"
)

// sweepRuns is how many runs a sweep looks at before it lets others in.
const sweepRuns = 512

// Admit implements index.Lifecycle.
func (x *Indexer) Admit(id index.HostID) error {
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

// Sweep implements index.Lifecycle. It looks at every run, and lets other writers in after each sweepRuns of them.
func (x *Indexer) Sweep(ctx context.Context, id index.HostID) error {
	if !x.Exists(id) {
		return x.OutOfRange(id)
	}
	end, err := x.BeginSweep(ctx, id)
	if err != nil {
		return err
	}
	defer end()
	if x.Reusable(id) {
		return nil
	}
	h := &x.hosts[id]
	h.mu.Lock() // waits for an Apply that began before the slot was retired; a later one finds it dead
	alive := x.IsAlive(id)
	h.mu.Unlock()
	if alive {
		return fmt.Errorf("%w: host %d", index.ErrAlive, id)
	}
	if err := x.tree.sweep(ctx, x.Unswept, func() bool { return false }); err != nil {
		return err
	}
	x.freeSlot(id, h)
	return nil
}

// freeSlot makes a swept slot as good as new.
func (x *Indexer) freeSlot(id index.HostID, h *hostTiers) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x.tree.mu.Lock()
	x.clearTiers(id, h)
	x.tree.mu.Unlock()
	h.gone, h.order.Stale = nil, false
	x.Vacate(id)
}

// sweep removes the leaving hosts from every run, until done returns true. It holds the lock for sweepRuns runs at a
// time. A run that was made meanwhile may have an id that was visited already: those are visited in the end.
func (t *tree) sweep(ctx context.Context, leaving func() index.HostBitmap, done func() bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := len(t.addedInSweep)
	t.sweeps++
	defer t.endWalk()
	for n := 1; !done(); n++ {
		switch {
		case n < int(t.top):
			t.dropHosts(uint32(n), leaving())
		case from < len(t.addedInSweep):
			t.dropHosts(t.addedInSweep[from], leaving())
			from++
		default:
			return nil
		}
		if n%sweepRuns == 0 {
			t.mu.Unlock()
			t.mu.Lock()
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tree) endWalk() {
	if t.sweeps--; t.sweeps == 0 {
		t.addedInSweep = t.addedInSweep[:0]
	}
}
