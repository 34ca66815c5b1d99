package sim

import (
	"fmt"
	"math"

	"octet/scheduler"
	"octet/scheduler/core"
)

// class is the requests that only their arrival orders.
type class struct{ priority, line, tenant int }

// watch holds what the batches showed so far.
type watch struct {
	cross    bool
	turns    uint64 // lines that can run at once: the bound of a line's wait for its turn
	batches  uint64
	served   []uint64 // by line: its last batch, or the last one before which it had no request here
	here     []int    // by line: its requests
	queued   uint64   // the last batch that left a request waiting
	queues   map[class][]*life
	running  map[uint64]*life // Seen: in the last batch, and still here
	waiting  int64            // Seen: bytes of those that were in none yet
	shares   shares           // Seen, and one level
	drainEnd uint64           // the batch by which all must be done; set when the last has arrived
}

// newWatch watches lines of requests that share batches: one for each adapter, or one for all.
func newWatch(plan *CorePlan) watch {
	lines := plan.Load.Adapters
	if plan.Core.CrossAdapter {
		lines = 1
	}
	return watch{
		cross: plan.Core.CrossAdapter, turns: uint64(min(lines, plan.Core.MaxRunning)), served: make([]uint64, lines),
		here:   make([]int, lines),
		queues: map[class][]*life{}, running: map[uint64]*life{}, shares: newShares(plan), drainEnd: math.MaxUint64,
	}
}

func (w *watch) line(l *life) int {
	if w.cross {
		return 0
	}
	return l.Adapter
}

func (w *watch) classOf(l *life) class { return class{l.Priority, w.line(l), l.Tenant} }

// arrived notes l, which was accepted when so many preemptions had happened.
func (w *watch) arrived(l *life, preemptions uint64) {
	l.preempts = preemptions
	line := w.line(l)
	if w.here[line]++; w.here[line] == 1 {
		w.served[line] = w.batches
	}
	k := w.classOf(l)
	w.queues[k] = append(w.queues[k], l)
	w.shares.waiting[l.Tenant]++
}

func (w *watch) left(l *life) {
	line := w.line(l)
	w.here[line]--
	w.served[line] = w.batches // the others may have come too late for its turn, and have to get in line
	delete(w.running, l.ID)
	if l.batch == 0 {
		w.unqueue(l)
		w.shares.left(l.Tenant)
	}
}

// unqueue takes l out of its class, and returns its place there.
func (w *watch) unqueue(l *life) int {
	k := w.classOf(l)
	for i, other := range w.queues[k] {
		if other == l {
			w.queues[k] = append(w.queues[k][:i], w.queues[k][i+1:]...)
			return i
		}
	}
	return -1
}

// observe checks a batch that was just assembled; before is the picture before that.
func (r *coreRun) observe(b *core.Batch, before scheduler.Stats) error {
	w := &r.watch
	w.batches++
	r.trace.add(b.Step, uint64(len(b.Items)), uint64(len(b.Snapshots)), uint64(len(b.Discards)))
	after := r.core.Stats()
	for _, check := range [...]func() error{
		func() error { return r.shape(b) },
		func() error { return r.move(b) },
		func() error { return r.judge(b, &before, &after) },
		func() error { return r.observeItems(b, after.Preemptions) },
		func() error { return w.turnsCome(after.Waiting, r.names) },
		r.hasten,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *coreRun) observeItems(b *core.Batch, preemptions uint64) error {
	for i := range b.Items {
		if err := r.observeItem(b, &b.Items[i], preemptions); err != nil {
			return err
		}
	}
	if len(b.Items) > 0 {
		r.watch.served[r.watch.line(r.live[b.Items[0].ID])] = r.watch.batches
	}
	return nil
}

// turnsCome checks the turns of the requests that were never seen yet: while none waits all that are here run.
func (w *watch) turnsCome(waiting int, names []string) error {
	if waiting > 0 {
		w.queued = w.batches
		return nil
	}
	for i, n := range w.here {
		if gap := w.batches - max(w.served[i], w.queued); n > 0 && gap > w.turns {
			return fmt.Errorf("overtaken: all of %s run, and were %d batches without a turn; the bound is %d", names[i],
				gap, w.turns)
		}
	}
	return nil
}

// hasten checks that the rest does not take longer than its tokens could: each step computes one at least, preempted
// ones compute theirs again, and steps fail.
func (r *coreRun) hasten() error {
	w := &r.watch
	switch {
	case r.more:
		return nil
	case w.drainEnd == math.MaxUint64:
		w.drainEnd = w.batches + 16*r.open + 1000
	case w.batches > w.drainEnd:
		return fmt.Errorf("starvation: %d requests of %d tokens are still here", len(r.live), r.open)
	}
	return nil
}

func (r *coreRun) observeItem(b *core.Batch, it *core.Item, preemptions uint64) error {
	w := &r.watch
	l := r.live[it.ID]
	if gap := w.batches - w.served[w.line(l)]; l.batch > 0 && l.gaveWay == preemptions && gap > w.turns {
		return fmt.Errorf("overtaken: %s ran all the time, and was %d batches without a turn; the bound is %d",
			b.Adapter, gap, w.turns)
	}
	if l.batch == 0 {
		if err := r.starts(it, l, preemptions); err != nil {
			return err
		}
	}
	r.trace.add(l.ID, uint64(it.Mode), uint64(it.Start), uint64(len(it.Tokens)), uint64(it.Draft),
		uint64(len(it.Table)))
	err := r.page(b, it, l)
	l.batch, l.gaveWay = w.batches, preemptions
	return err
}

// starts checks that no request of l's class that came earlier still waits for its first batch.
func (r *coreRun) starts(it *core.Item, l *life, preemptions uint64) error {
	w := &r.watch
	first := w.queues[w.classOf(l)][0]
	if place := w.unqueue(l); place != 0 && first.preempts == preemptions {
		return fmt.Errorf("order: %d starts before %d others of its class, of which %d is the first", l.ID, place,
			first.ID)
	}
	r.out.Waits = append(r.out.Waits, r.now-l.At)
	if !r.plan.Seen {
		return nil
	}
	w.waiting -= r.promptBytes(l)
	if err := r.aged(l); err != nil {
		return err
	}
	return w.shares.started(l.Tenant, len(l.Tokens)-it.Cached)
}

// page checks an item against the sequence and against the engine's memory: all that it reads where it starts, or
// starts again; the last position where it goes on.
func (r *coreRun) page(b *core.Batch, it *core.Item, l *life) error {
	end := it.Start + len(it.Tokens)
	if end > len(l.tokens) || it.Samples != (end == len(l.tokens)) || it.Batched != l.generated() {
		return fmt.Errorf("%d computes %d…%d of %d tokens, samples: %t", l.ID, it.Start, end, len(l.tokens),
			it.Samples)
	}
	for i, token := range it.Tokens {
		if token != l.tokens[it.Start+i] {
			return fmt.Errorf("position %d of %d is token %d, not %d", it.Start+i, l.ID, token, l.tokens[it.Start+i])
		}
	}
	from := 0
	if it.Start == l.computed && l.batch > 0 && !it.Restore {
		from = max(0, it.Start-1)
	}
	if err := r.memory.claim(it, b.Step); err != nil {
		return err
	}
	if l.Hybrid {
		if err := r.recur(it, l); err != nil {
			return err
		}
	}
	return r.memory.read(it, l.content, from, it.Start)
}
