package sim

import (
	"fmt"

	"octet/scheduler"
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
	if done := r.out.Finished + r.out.Cancelled + uint64(r.out.RefusedInAll()); done != r.out.Asked {
		return fmt.Errorf("%d asked, %d finished, were cancelled or refused", r.out.Asked, done)
	}
	return r.core.Check()
}

// undone checks that a failed step left nothing, where it neither started nor stopped anybody: before is from before it.
func (r *coreRun) undone(before *scheduler.Stats) error {
	s := r.core.Stats()
	same := s.Running == before.Running && s.Admitted == before.Admitted && s.Preemptions == before.Preemptions
	if same && r.gone == 0 && (s.Free != before.Free || s.Reserved != before.Reserved) {
		return fmt.Errorf("aborted: %d blocks are free and %d reserved, before the step %d and %d", s.Free, s.Reserved, before.Free, before.Reserved)
	}
	return nil
}

// lean checks that whoever has just verified drafts holds no more than the block of its next token. Once somebody gave
// way there may be pinned ones, which hold their whole answer.
func (r *coreRun) lean(b *scheduler.Batch) error {
	s, verified := r.core.Stats(), 0
	for i := range b.Items {
		if b.Items[i].Mode == scheduler.SpecVerify && r.live[b.Items[i].ID] != nil {
			verified++
		}
	}
	if s.Preemptions == 0 && s.Running == verified && s.Reserved > s.Running {
		return fmt.Errorf("drafts: %d blocks are reserved for the next tokens of %d", s.Reserved, s.Running)
	}
	return nil
}
