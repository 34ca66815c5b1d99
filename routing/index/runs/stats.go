package runs

import "octet/routing/index"

// Stats implements index.Inspector. It is of one moment.
func (x *Indexer) Stats() (st index.Stats) {
	t := x.tree
	t.mu.RLock()
	st.Entries, st.Runs, st.Refused, st.Evicted, st.Locked = t.entries, t.live, t.refused, t.evicted, t.locked
	for _, n := range t.held {
		st.Blocks += n
	}
	t.mu.RUnlock()
	st.Bytes = t.mem.account.Used()
	st.Lookups, st.Hints = x.lookups.load(), x.hints.Load()
	return st
}

// Host implements index.Inspector.
func (x *Indexer) Host(id index.HostID) index.HostState {
	if !x.Exists(id) {
		return index.HostState{}
	}
	h := &x.hosts[id]
	h.mu.RLock()
	defer h.mu.RUnlock()
	x.tree.mu.RLock()
	held := x.tree.held[id]
	x.tree.mu.RUnlock()
	return index.HostState{
		Generation: h.generation, Epoch: h.order.Epoch, LastSeq: h.order.Last, Stale: h.order.Stale,
		Alive: x.IsAlive(id),
		Gaps:  h.order.Gaps, Resyncs: h.resyncs, Blocks: held,
	}
}

// Digest implements index.Inspector.
func (x *Indexer) Digest() (sum uint64) {
	alive := x.Alive()
	for i := range x.hosts {
		x.hosts[i].mu.RLock()
		defer x.hosts[i].mu.RUnlock()
	}
	t := x.tree
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.each(func(r *run, s *holders) {
		hashes := blocksOf(t.hashes(r))
		s.each(func(id index.HostID, from, to int) {
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
