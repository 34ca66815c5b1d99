package index

// Stats is the size of an index and what it has done.
type Stats struct {
	Entries int    // distinct blocks in the index
	Blocks  int    // residencies: blocks counted once for each replica that holds them
	Runs    int    // stretches of blocks that an Indexer keeps together
	Bytes   int64  // taken, tier maps included (those, and all of the reference's, by estimate)
	Refused uint64 // blocks that were not recorded for want of room
	Evicted uint64 // distinct blocks that were forgotten to make room for others
	Lookups uint64 // looks by queries: at runs, in the reference at shards
	Locked  uint64 // locks taken by writers
	Hints   uint64 // times a tier map was read for a winner
}

// HostState is one slot.
type HostState struct {
	Generation uint32 // how many replicas have had the slot
	Epoch      uint64
	LastSeq    uint64
	Stale      bool // events are missing; until a Resync, a new epoch or a Clear
	Alive      bool
	Gaps       uint64 // times events were found missing
	Resyncs    uint64
	Blocks     int // held in at least one tier
	// the reference alone: of these, how many are not known to have the block before them here, so that queries scan
	Detached int
}

// Stats returns the index's size as of one moment.
func (x *Indexer) Stats() (st Stats) {
	t := x.tree
	t.mu.RLock()
	st.Entries, st.Runs, st.Refused, st.Evicted, st.Locked = t.entries, t.live, t.refused, t.evicted, t.locked
	for _, n := range t.held {
		st.Blocks += n
	}
	t.mu.RUnlock()
	st.Bytes = t.mem.used()
	st.Lookups, st.Hints = x.lookups.load(), x.hints.Load()
	return st
}

// Host returns the state of slot h, the zero HostState when there is none.
func (x *Indexer) Host(id HostID) HostState {
	if !x.exists(id) {
		return HostState{}
	}
	h := &x.hosts[id]
	h.mu.RLock()
	defer h.mu.RUnlock()
	x.tree.mu.RLock()
	held := x.tree.held[id]
	x.tree.mu.RUnlock()
	return HostState{
		Generation: h.generation, Epoch: h.order.epoch, LastSeq: h.order.last, Stale: h.order.stale,
		Alive: x.alive.has(id),
		Gaps:  h.order.gaps, Resyncs: h.resyncs, Blocks: held,
	}
}

// Digest sums up all (host, block, tier) facts of living replicas: equal facts give equal digests, whatever the order
// in which they came, here and in the reference. Where blocks lie within a tier is not part of it. It reads everything,
// while changes wait.
func (x *Indexer) Digest() (sum uint64) {
	alive := x.alive.load()
	for i := range x.hosts {
		x.hosts[i].mu.RLock()
		defer x.hosts[i].mu.RUnlock()
	}
	t := x.tree
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.each(func(r *run, s *shape) {
		hashes := blocksOf(t.hashes(r))
		s.facts(func(id HostID, from, to int) {
			if !alive.Has(id) {
				return
			}
			for _, b := range hashes[from:to] {
				sum += x.hosts[id].digest(b)
			}
		})
	})
	return sum
}
