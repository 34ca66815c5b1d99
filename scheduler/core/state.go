package core

import (
	"fmt"

	"octet/kvpool"
	"octet/scheduler"
)

// Snapshot says that a hybrid sequence gave way in this step: the engine copies its recurrent state, and the keys and
// values of its tokens, to host memory before it writes anything of the step. It keeps the copy until a step that
// brings it back ([Item.Restore]) is computed, or until it is discarded. A step that fails leaves recurrent state as it
// was before.
type Snapshot struct {
	ID     uint64
	Tokens int // computed; the state is the one behind the last of them
	// their blocks, which already belong to others; read-only, valid until Commit: a sequence that gave way does not
	// start in the same step
	Table []kvpool.BlockID
}

// hostMemory is the copies of preempted hybrid sequences.
type hostMemory struct {
	stateBytes, tokenBytes int64 // of a copy: fixed, and for each token
	budget                 int64

	used      int64
	saved     []*sequence // of snapshots, same positions
	snapshots []Snapshot  // of the step that is out
	discards  []uint64    // not yet known to have been carried out
	discarded int         // of these, told in the step that is out

	taken, restores uint64 // so far
}

// bytes returns what a snapshot of s takes.
func (h *hostMemory) bytes(s *sequence) int64 { return h.stateBytes + int64(s.computed)*h.tokenBytes }

// worthSaving reports whether s leaves a snapshot if it gives way: a hybrid that has computed something, for which
// there is room, and that is back sooner by copying than by computing.
func (h *hostMemory) worthSaving(s *sequence, t *timing) bool {
	if !s.req.Hybrid || s.computed == 0 {
		return false
	}
	bytes := h.bytes(s)
	return bytes <= h.budget-h.used && t.carry(bytes) < t.compute(s.computed)
}

// save has the state of s, which gives way, copied if it is worth that. A copy that was not yet brought back still is
// what s needs.
func (h *hostMemory) save(s *sequence, pool *kvpool.Pool, t *timing) {
	switch {
	case s.restoring:
		s.restoring = false
	case h.worthSaving(s, t):
		s.kept, s.host = s.computed, h.bytes(s)
		h.used += s.host
		h.taken++
		h.saved = append(h.saved, s)
		h.snapshots = append(h.snapshots,
			Snapshot{ID: s.req.ID, Tokens: s.kept, Table: s.table.Blocks()[:pool.Blocks(s.kept)]})
	}
}

// restored notes that the engine has brought the copy of s back, which ends it.
func (h *hostMemory) restored(s *sequence) {
	h.used -= s.host
	s.host, s.restoring = 0, false
	h.restores++
}

// discard ends the copy of s, if there is one, unused. The engine is told in every batch until one is committed.
func (h *hostMemory) discard(s *sequence) {
	if s.host > 0 {
		h.used -= s.host
		s.host, s.restoring = 0, false
		h.discards = append(h.discards, s.req.ID)
	}
}

// begin forgets the snapshots of the step before.
func (h *hostMemory) begin() { h.saved, h.snapshots = h.saved[:0], h.snapshots[:0] }

// tell returns the discards and the snapshots that the step's batch carries.
func (h *hostMemory) tell() ([]uint64, []Snapshot) {
	h.discarded = len(h.discards)
	return h.discards[:h.discarded:h.discarded], h.snapshots
}

// delivered forgets the discards that the engine has carried out.
func (h *hostMemory) delivered() { h.discards = append(h.discards[:0], h.discards[h.discarded:]...) }

// failed discards the snapshots of a step that failed: it is not known whether they were taken.
func (h *hostMemory) failed() {
	for _, s := range h.saved {
		h.discard(s)
	}
}

// check proves that the copies are those of live, and within the budget.
func (h *hostMemory) check(live map[uint64]*sequence) error {
	bytes := int64(0)
	for _, s := range live {
		bytes += s.host
	}
	if bytes != h.used || bytes > h.budget {
		return fmt.Errorf("%w: copies of %d bytes in the host, counted %d of %d", scheduler.ErrCorrupt, bytes, h.used,
			h.budget)
	}
	return nil
}
