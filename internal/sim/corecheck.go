package sim

import (
	"cmp"
	"fmt"

	"octet/scheduler"
	"octet/scheduler/core"
)

// conserve checks the ledger.
func (r *coreRun) conserve() error {
	s := r.core.Stats()
	if s.Free+s.Used+s.Reserved != s.Total || min(s.Free, s.Used, s.Reserved) < 0 {
		return fmt.Errorf("%d free + %d used + %d reserved is not %d", s.Free, s.Used, s.Reserved, s.Total)
	}
	if s.Waiting+s.Running != len(r.live) {
		return fmt.Errorf("%d wait and %d run of %d", s.Waiting, s.Running, len(r.live))
	}
	if s.Running > r.plan.Core.MaxRunning {
		return fmt.Errorf("%d run, %d may", s.Running, r.plan.Core.MaxRunning)
	}
	if s.HostBytes != r.host.wanted {
		return fmt.Errorf("host memory: %d bytes are counted, and the copies that are wanted have %d", s.HostBytes,
			r.host.wanted)
	}
	if r.plan.Seen && s.WaitingBytes != r.watch.waiting {
		return fmt.Errorf("%d bytes are said to wait, it is %d", s.WaitingBytes, r.watch.waiting)
	}
	r.core.TakeEvents()
	if r.plan.CheckEvery > 0 && r.out.Steps%r.plan.CheckEvery == 0 {
		return r.core.Check()
	}
	return nil
}

// baseline checks that nothing is left when all is done.
func (r *coreRun) baseline() error {
	s := r.core.Stats()
	if s.Free != s.Total || s.Waiting != 0 || s.Running != 0 || s.Preempting != 0 {
		return fmt.Errorf("all is done, and the core has %+v", s)
	}
	if err := r.host.empty(); err != nil {
		return err
	}
	if done := r.out.Finished + r.out.Cancelled + uint64(r.out.RefusedInAll()); done != r.out.Asked {
		return fmt.Errorf("%d asked, %d finished, were cancelled or refused", r.out.Asked, done)
	}
	return r.core.Check()
}

// undone checks that a failed step left nothing, if it neither started nor stopped a request: before is from before
// it.
func (r *coreRun) undone(before *scheduler.Stats) error {
	s := r.core.Stats()
	same := s.Running == before.Running && s.Admitted == before.Admitted && s.Preemptions == before.Preemptions
	if same && r.gone == 0 && (s.Free != before.Free || s.Reserved != before.Reserved) {
		return fmt.Errorf("aborted: %d blocks are free and %d reserved, before the step %d and %d", s.Free, s.Reserved,
			before.Free, before.Reserved)
	}
	return nil
}

// lean checks that a request that has just verified drafts holds no more than the block of its next token. Once any
// request gave way there may be pinned ones, which hold their whole answer.
func (r *coreRun) lean(b *core.Batch) error {
	s, verified := r.core.Stats(), 0
	for i := range b.Items {
		if b.Items[i].Mode == core.SpecVerify && r.live[b.Items[i].ID] != nil {
			verified++
		}
	}
	if s.Preemptions == 0 && s.Running == verified && s.Reserved > s.Running {
		return fmt.Errorf("drafts: %d blocks are reserved for the next tokens of %d", s.Reserved, s.Running)
	}
	return nil
}

// refusal returns why l may not be accepted, from the bounds alone; nil where it must be.
func (r *coreRun) refusal(l *life) error {
	c, s := &r.plan.Core, r.core.Stats()
	most := cmp.Or(c.MaxWaitingBytes, 256<<20)
	switch {
	case len(l.Tokens)+l.MaxNew > c.Blocks*c.BlockSize:
		return scheduler.ErrExceedsPool
	case l.Deadline > 0 && l.Deadline <= l.At:
		return scheduler.ErrDeadline
	case s.Waiting-s.Preempting >= c.MaxWaiting || s.WaitingBytes+r.promptBytes(l) > most:
		return scheduler.ErrQueueFull
	}
	return nil
}

// promptBytes returns what l takes while it waits: four bytes a token, and eight for the hash of each whole block.
func (r *coreRun) promptBytes(l *life) int64 {
	return 4*int64(len(l.Tokens)) + 8*int64(len(l.Tokens)/r.plan.Core.BlockSize)
}
