package sim

import (
	"fmt"
	"math"

	"octet/scheduler"
	"octet/scheduler/core"
)

// mostYields is how often a request can be made to give way.
const mostYields = 4

// shape checks what every batch promises of itself: the budget, and decodes before prefills.
func (r *coreRun) shape(b *core.Batch) error {
	budget, prefill := r.plan.Core.TokenBudget, false
	for i := range b.Items {
		it := &b.Items[i]
		if prefill && it.Mode != core.Prefill {
			return fmt.Errorf("%d decodes behind a prefill", it.ID)
		}
		prefill = it.Mode == core.Prefill
		budget -= len(it.Tokens) + it.Draft
		if err := r.shapeItem(b, it); err != nil {
			return err
		}
	}
	if budget < 0 {
		return fmt.Errorf("a batch of %d tokens more than its budget", -budget)
	}
	return nil
}

// shapeItem checks that it is of the batch's adapter, no larger than a chunk, and drafts what its request can use.
func (r *coreRun) shapeItem(b *core.Batch, it *core.Item) error {
	l := r.live[it.ID]
	if l == nil {
		return fmt.Errorf("item of %d, which is not here", it.ID)
	}
	adapter, together := r.names[l.Adapter], r.names[l.Adapter]
	if r.watch.cross {
		together = ""
	}
	if it.Adapter != adapter || b.Adapter != together {
		return fmt.Errorf("%d of %s is said to be of %s, in a batch of %q", l.ID, adapter, it.Adapter, b.Adapter)
	}
	if chunk := r.plan.Core.ChunkTokens; it.Mode == core.Prefill && chunk > 0 && len(it.Tokens) > chunk {
		return fmt.Errorf("a chunk of %d tokens of %d, the bound is %d", len(it.Tokens), l.ID, chunk)
	}
	if drafts := it.Mode == core.SpecVerify; drafts != (it.Draft > 0) || it.Draft > l.window() {
		return fmt.Errorf("%v of %d with %d drafts, its window is %d", it.Mode, l.ID, it.Draft, l.window())
	}
	if it.Mode == core.Decode && l.window() > 0 {
		r.out.Plain++
	}
	return nil
}

// judge checks the requests that gave way. If it can be seen: for a strictly more urgent one that starts now, or, if
// none starts, for the next block of one that is at least as urgent. None does so more than mostYields times, as far as
// it is seen.
func (r *coreRun) judge(b *core.Batch, before, after *scheduler.Stats) error {
	if !r.plan.Seen {
		return r.judgeReturns(b)
	}
	w := &r.watch
	if after.Running != len(b.Items) {
		return fmt.Errorf("%d run, %d are in the batch", after.Running, len(b.Items))
	}
	now, started, first, heads := make(map[uint64]*life, len(b.Items)), math.MinInt, uint64(0), []*life(nil)
	for i := range b.Items {
		l := r.live[b.Items[i].ID]
		now[l.ID] = l
		if l.batch == 0 {
			first++
		}
		if w.running[l.ID] == nil {
			started = max(started, l.Priority)
			heads = append(heads, l)
		}
	}
	if admitted := after.Admitted - before.Admitted; admitted != first {
		return fmt.Errorf("preemption: %d were admitted, and %d of them start: the others gave way at once", admitted,
			first)
	}
	if len(heads) == 1 {
		if err := r.spared(heads[0], now, before); err != nil {
			return err
		}
	}
	r.seen(b)
	gone, err := r.judgeGone(now, started)
	if told := after.Preemptions - before.Preemptions; err == nil && told != gone {
		err = fmt.Errorf("preemption: %d are counted, %d gave way", told, gone)
	}
	w.running = now
	return err
}

// judgeGone checks the requests that ran before and do not now. The order does not matter: it counts, and reports one
// that is wrong.
func (r *coreRun) judgeGone(now map[uint64]*life, started int) (gone uint64, err error) {
	grows := math.MinInt
	for _, l := range r.watch.running {
		if l.generated() > 0 && l.computed%r.plan.Core.BlockSize == 0 {
			grows = max(grows, l.Priority)
		}
	}
	for id, l := range r.watch.running {
		if now[id] != nil {
			continue
		}
		gone++
		if started != math.MinInt && l.Priority >= started || started == math.MinInt && l.Priority > grows {
			err = fmt.Errorf(
				"preemption: %d of priority %d gave way; of those that started or needed a block, the most urgent "+
					"are of %d and %d",
				id, l.Priority, started, grows)
		}
		if l.yielded++; l.yielded > mostYields {
			err = fmt.Errorf("preemption: %d gave way for the %dth time", id, l.yielded)
		}
	}
	return gone, err
}

// judgeReturns counts the requests that come back behind where they were.
func (r *coreRun) judgeReturns(b *core.Batch) error {
	for i := range b.Items {
		it := &b.Items[i]
		l := r.live[it.ID]
		if l.batch == 0 || it.Start >= l.computed {
			continue
		}
		l.computed = it.Start
		if l.yielded++; l.yielded > mostYields {
			return fmt.Errorf("preemption: %d comes back for the %dth time", l.ID, l.yielded)
		}
	}
	return nil
}

// aged checks that l, which starts, overtakes no request of its tenant that has waited so long that it may not.
func (r *coreRun) aged(l *life) error {
	c := &r.plan.Core
	if c.Aging == 0 || l.Priority > c.AgingCeiling {
		return nil
	}
	for p := range min(c.AgingCeiling, r.plan.Load.Priorities-1) + 1 {
		for _, o := range r.watch.queues[class{p, r.watch.line(l), l.Tenant}] {
			due := o.At + scheduler.Time(c.AgingCeiling-p)*c.Aging
			if o.At < l.At && r.now >= due && r.watch.running[o.ID] == nil {
				return fmt.Errorf(
					"aging: %d of priority %d starts, and %d of priority %d came earlier and was to be overtaken "+
						"until %v only", l.ID, l.Priority, o.ID, p, due)
			}
		}
	}
	return nil
}
