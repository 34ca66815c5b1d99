package index

import (
	"context"
	"fmt"
)

// sweepRuns is how many runs a sweep looks at before it lets others in.
const sweepRuns = 512

// Admit puts slot h to use: an empty replica without an epoch, in every answer from now on. Admitting a living one
// changes nothing. ErrOutOfRange beyond the cap, ErrUnswept while bits of the slot's last replica may be left; neither
// touches anybody else.
func (x *Indexer) Admit(id HostID) error {
	if !x.exists(id) {
		return x.outOfRange(id)
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.alive.has(id) {
		return nil
	}
	if x.used.has(id) {
		return fmt.Errorf("%w: host %d", ErrUnswept, id)
	}
	h.order, h.resyncs = order{}, 0
	h.generation++
	x.used.set(id)
	x.alive.set(id)
	return nil
}

// Sweep clears the bits of the retired replica h, frees its tier maps and the entries without a living holder, and
// makes the slot reusable. It looks at every run, lets others in after each sweepRuns of them, and no more than
// Config.Sweeps run side by side. When ctx ends first the slot stays unswept and a later Sweep does the rest. ErrAlive
// when h is in use; nil when there is nothing to sweep.
func (x *Indexer) Sweep(ctx context.Context, id HostID) error {
	if !x.exists(id) {
		return x.outOfRange(id)
	}
	h := &x.hosts[id]
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
	h.mu.Lock() // waits for an Apply that began before the slot was retired; a later one finds it dead
	alive := x.alive.has(id)
	h.mu.Unlock()
	if alive {
		return fmt.Errorf("%w: host %d", ErrAlive, id)
	}
	if err := x.tree.sweep(ctx, x.Unswept, func() bool { return false }); err != nil {
		return err
	}
	x.vacate(id, h)
	return nil
}

// vacate makes a swept slot as good as new.
func (x *Indexer) vacate(id HostID, h *copies) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x.tree.mu.Lock()
	h.clearTiers(x.tree.mem)
	x.tree.mu.Unlock()
	h.parting, h.order.stale = nil, false
	x.stale.clear(id)
	x.used.clear(id)
}

// sweep takes all that the leaving hold off every run, until done says that nothing is left. It holds the lock for
// sweepRuns runs at a time. What a run is cut in meanwhile may stand where it has been already: it goes there again.
func (t *runTree) sweep(ctx context.Context, leaving func() HostBitmap, done func() bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := len(t.again)
	t.walks++
	defer t.endWalk()
	for n := 1; !done(); n++ {
		switch {
		case n < int(t.top):
			t.expel(uint32(n), leaving())
		case from < len(t.again):
			t.expel(t.again[from], leaving())
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

func (t *runTree) endWalk() {
	if t.walks--; t.walks == 0 {
		t.again = t.again[:0]
	}
}
