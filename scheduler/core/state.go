package core

import "octet/kvpool"

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

// stateBytes returns what a snapshot of s takes in host memory.
func (c *Core) stateBytes(s *sequence) int64 {
	return c.cfg.SSMStateBytes + int64(s.computed)*c.cfg.KVTokenBytes
}

// worthSaving reports whether s leaves a snapshot if it gives way: a hybrid that has computed something, for which host
// memory has room, and that is back sooner by copying than by computing.
func (c *Core) worthSaving(s *sequence) bool {
	if !s.req.Hybrid || s.computed == 0 {
		return false
	}
	bytes := c.stateBytes(s)
	return bytes <= c.cfg.HostBytes-c.host && c.carry(bytes) < c.compute(s.computed)
}

// save has the state of s, which gives way, copied to host memory if it is worth that. A copy that was not yet brought
// back still is what s needs.
func (c *Core) save(s *sequence) {
	switch {
	case s.restoring:
		s.restoring = false
	case c.worthSaving(s):
		s.kept, s.host = s.computed, c.stateBytes(s)
		c.host += s.host
		c.totals.snapshots++
		c.saved = append(c.saved, s)
		c.snapshots = append(c.snapshots,
			Snapshot{ID: s.req.ID, Tokens: s.kept, Table: s.table.Blocks()[:c.pool.Blocks(s.kept)]})
	}
}

// restore starts s where its snapshot was taken. The copy stays in host memory until a step that has brought it back.
func (c *Core) restore(s *sequence) {
	if s.host > 0 {
		s.computed, s.restoring = s.kept, true
		c.reserved -= c.pool.Blocks(s.kept)
	}
}

// restored notes that the engine has brought the copy back, which ends it.
func (c *Core) restored(s *sequence) {
	c.host -= s.host
	s.host, s.restoring = 0, false
	c.totals.restores++
}

// discard ends the copy of s, if there is one, unused. The engine hears of it in every batch until one is committed.
func (c *Core) discard(s *sequence) {
	if s.host > 0 {
		c.host -= s.host
		s.host, s.restoring = 0, false
		c.discards = append(c.discards, s.req.ID)
	}
}

// unsaved discards the snapshots of a step that failed: it is not known whether they were taken.
func (c *Core) unsaved() {
	for _, s := range c.saved {
		c.discard(s)
	}
}

// delivered forgets the discards that the engine has carried out.
func (c *Core) delivered(n int) { c.discards = append(c.discards[:0], c.discards[n:]...) }
