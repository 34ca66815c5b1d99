package sim

import (
	"cmp"
	"fmt"
	"math"

	"octet/kvpool"
	"octet/scheduler"
	"octet/scheduler/core"
)

// seen keeps the blocks of the requests in a batch, for the step after it.
func (r *coreRun) seen(b *core.Batch) {
	for i := range b.Items {
		l := r.live[b.Items[i].ID]
		l.table = append(l.table[:0], b.Items[i].Table...)
	}
}

// spared checks that no request gave way to head while less urgent ones alone could have made room for it. now are
// those that run after it. The sums are on the safe side: what head could share is not counted for it, nor blocks that
// a settled step may have trimmed; and if a less urgent one needs its next block, a victim may have given way to that.
func (r *coreRun) spared(head *life, now map[uint64]*life, before *scheduler.Stats) error {
	most := math.MinInt
	for id, l := range r.watch.running {
		if now[id] == nil {
			most = max(most, l.Priority)
		}
	}
	free, lower, due := before.Free, 0, 0
	held := map[kvpool.BlockID]bool{}
	for _, l := range r.watch.running {
		if l.Priority >= most || l.yielded >= mostYields {
			for _, id := range l.table { // what it shares is its own too, before it has computed anything
				held[id] = true
			}
		} else {
			lower++
		}
		if l.generated() > 0 && l.computed%r.plan.Core.BlockSize == 0 {
			if l.Priority < head.Priority {
				return nil
			}
			due++
		}
	}
	for _, l := range r.watch.running { // in any order: it counts each block once
		if l.Priority < most && l.yielded < mostYields {
			free += r.hold(held, l)
		}
	}
	kept := int(max(0, cmp.Or(r.plan.Core.Watermark, 0.02)) * float64(r.plan.Core.Blocks))
	if need := r.blocks(head) + max(due, kept); lower > 0 && need <= free {
		return fmt.Errorf(
			"preemption: one of priority %d gave way to %d, and %d less urgent ones could have made %d blocks free "+
				"of the %d it needs",
			most, head.ID, lower, free, need)
	}
	return nil
}

// hold notes the blocks in which l has content, and returns how many were not noted yet.
func (r *coreRun) hold(held map[kvpool.BlockID]bool, l *life) (n int) {
	size := r.plan.Core.BlockSize
	for _, id := range l.table[:min(len(l.table), (l.computed+size-1)/size)] {
		if !held[id] {
			held[id] = true
			n++
		}
	}
	return n
}

// blocks returns what l starts with: its tokens and one more, or, where it gave way as often as it may, its whole
// answer.
func (r *coreRun) blocks(l *life) int {
	tokens := len(l.tokens) + 1
	if l.yielded >= mostYields {
		tokens = len(l.Tokens) + l.MaxNew
	}
	return (tokens + r.plan.Core.BlockSize - 1) / r.plan.Core.BlockSize
}
