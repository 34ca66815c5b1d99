package sim

import (
	"fmt"
	"math"

	"octet/scheduler"
)

// class is whom arrival alone orders.
type class struct{ priority, adapter, tenant int }

// watch holds what the batches showed so far.
type watch struct {
	whole    bool
	turns    uint64 // adapters that can run at once: the bound of an adapter's wait for its turn
	batches  uint64
	served   []uint64 // by adapter: its last batch, or the last one before which it had nobody here
	here     []int    // by adapter: its requests
	queued   uint64   // the last batch that left somebody waiting
	queues   map[class][]*life
	running  map[uint64]*life // Whole: who was in the last batch and is still here
	drainEnd uint64           // the batch by which all must be done; set when the last has arrived
}

func newWatch(plan *CorePlan) watch {
	return watch{
		whole: plan.Whole, turns: uint64(min(plan.Load.Adapters, plan.Core.MaxRunning)), served: make([]uint64, plan.Load.Adapters), here: make([]int, plan.Load.Adapters),
		queues: map[class][]*life{}, running: map[uint64]*life{}, drainEnd: math.MaxUint64,
	}
}

func (w *watch) classOf(l *life) class { return class{l.Priority, l.Adapter, l.Tenant} }

// arrived notes l, which was accepted when so many preemptions had happened.
func (w *watch) arrived(l *life, preemptions uint64) {
	l.preempts = preemptions
	if w.here[l.Adapter]++; w.here[l.Adapter] == 1 {
		w.served[l.Adapter] = w.batches
	}
	k := w.classOf(l)
	w.queues[k] = append(w.queues[k], l)
}

func (w *watch) left(l *life) {
	w.here[l.Adapter]--
	w.served[l.Adapter] = w.batches // the others may have come too late for its turn, and have to get in line
	delete(w.running, l.ID)
	if l.batch == 0 {
		w.unqueue(l)
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
func (r *coreRun) observe(b *scheduler.Batch, before scheduler.Stats) error {
	w := &r.watch
	w.batches++
	r.trace.add(b.Step, uint64(len(b.Items)))
	after := r.core.Stats()
	if w.whole {
		if err := r.judge(b, &before, &after); err != nil {
			return err
		}
	}
	for i := range b.Items {
		if err := r.observeItem(b, &b.Items[i], after.Preemptions); err != nil {
			return err
		}
	}
	if len(b.Items) > 0 {
		w.served[r.live[b.Items[0].ID].Adapter] = w.batches
	}
	if err := w.turnsCome(after.Waiting, r.names); err != nil {
		return err
	}
	return r.hasten()
}

// turnsCome checks the turns of those who were never seen yet: while nobody waits all that are here run.
func (w *watch) turnsCome(waiting int, names []string) error {
	if waiting > 0 {
		w.queued = w.batches
		return nil
	}
	for i, n := range w.here {
		if gap := w.batches - max(w.served[i], w.queued); n > 0 && gap > w.turns {
			return fmt.Errorf("overtaken: all of %s run, and were %d batches without a turn; the bound is %d", names[i], gap, w.turns)
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

func (r *coreRun) observeItem(b *scheduler.Batch, it *scheduler.Item, preemptions uint64) error {
	w := &r.watch
	l := r.live[it.ID]
	if l == nil {
		return fmt.Errorf("item of %d, which is not here", it.ID)
	}
	if r.names[l.Adapter] != b.Adapter {
		return fmt.Errorf("%d of %s in a batch of %s", l.ID, r.names[l.Adapter], b.Adapter)
	}
	if gap := w.batches - w.served[l.Adapter]; l.batch > 0 && l.gaveWay == preemptions && gap > w.turns {
		return fmt.Errorf("overtaken: %s ran all the time, and was %d batches without a turn; the bound is %d", b.Adapter, gap, w.turns)
	}
	if l.batch == 0 {
		if err := r.starts(l, preemptions); err != nil {
			return err
		}
	}
	r.trace.add(l.ID, uint64(it.Mode), uint64(it.Start), uint64(len(it.Tokens)), uint64(it.Draft), uint64(len(it.Table)))
	err := r.page(b, it, l)
	l.batch, l.gaveWay = w.batches, preemptions
	return err
}

// starts checks that nobody of l's class that came earlier still waits for its first batch.
func (r *coreRun) starts(l *life, preemptions uint64) error {
	w := &r.watch
	first := w.queues[w.classOf(l)][0]
	if place := w.unqueue(l); place != 0 && first.preempts == preemptions {
		return fmt.Errorf("order: %d starts before %d others of its class, of which %d is the first", l.ID, place, first.ID)
	}
	r.out.Waits = append(r.out.Waits, r.now-l.At)
	return nil
}

// page checks an item against the sequence and against the engine's memory: all that it reads where it starts, or starts
// again; the last position where it goes on.
func (r *coreRun) page(b *scheduler.Batch, it *scheduler.Item, l *life) error {
	end := it.Start + len(it.Tokens)
	if end > len(l.tokens) || it.Samples != (end == len(l.tokens)) || it.Batched != l.generated() {
		return fmt.Errorf("%d computes %d…%d of %d tokens, samples: %t", l.ID, it.Start, end, len(l.tokens), it.Samples)
	}
	for i, token := range it.Tokens {
		if token != l.tokens[it.Start+i] {
			return fmt.Errorf("position %d of %d is token %d, not %d", it.Start+i, l.ID, token, l.tokens[it.Start+i])
		}
	}
	from := 0
	if it.Start == l.computed && l.batch > 0 {
		from = max(0, it.Start-1)
	}
	if err := r.memory.claim(it, b.Step); err != nil {
		return err
	}
	return r.memory.read(it, l.content, from, it.Start)
}

// judge checks who gave way to whom, where that can be seen to the request.
func (r *coreRun) judge(b *scheduler.Batch, before, after *scheduler.Stats) error {
	w := &r.watch
	most, started := math.MinInt, 0
	now := make(map[uint64]*life, len(b.Items))
	for i := range b.Items {
		l := r.live[b.Items[i].ID]
		now[l.ID] = l
		if w.running[l.ID] == nil {
			started++
			most = max(most, l.Priority)
		}
	}
	gone := uint64(0)
	for id, l := range w.running { // in any order: it only counts, and reports one that is wrong
		if now[id] != nil {
			continue
		}
		if gone++; started == 0 || l.Priority >= most {
			return fmt.Errorf("preemption: %d of priority %d gave way, and %d started, of priority %d at most", id, l.Priority, started, most)
		}
	}
	w.running = now
	if told := after.Preemptions - before.Preemptions; told < gone { // more where one came back in the same step, for one yet less urgent
		return fmt.Errorf("preemption: %d are counted, %d gave way", told, gone)
	}
	return nil
}
