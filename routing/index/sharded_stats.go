package index

// What a map entry costs, from measurement: slots and control bytes at the mean load of a growing map.
const (
	entryBytes     = 64
	residencyBytes = 40
	extentBytes    = 64
)

// Stats takes every shard's and every host's read lock in turn, so it is no snapshot of one moment.
func (x *ShardedBlockIndexer) Stats() (st Stats) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.RLock()
		st.Entries += len(s.blocks)
		st.Locked += s.locked
		s.mu.RUnlock()
	}
	st.Bytes = int64(st.Entries) * entryBytes
	for i := range x.hosts {
		h := &x.hosts[i]
		h.mu.RLock()
		st.Blocks += h.tiers.held
		st.Bytes += int64(len(h.tiers.blocks))*residencyBytes + int64(len(h.tiers.extents))*extentBytes
		h.mu.RUnlock()
	}
	st.Lookups, st.Hints = x.lookups.load(), x.hints.Load()
	return st
}

// Host returns the state of slot h, the zero HostState when there is none.
func (x *ShardedBlockIndexer) Host(h HostID) HostState {
	s := x.host(h)
	if s == nil {
		return HostState{}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return HostState{
		Generation: s.generation, Epoch: s.order.epoch, LastSeq: s.order.last, Stale: s.order.stale,
		Alive: x.alive.has(h),
		Gaps:  s.order.gaps, Resyncs: s.resyncs, Blocks: s.tiers.held, Detached: s.tiers.detached,
	}
}

// Digest sums up all (host, block, tier) facts of living replicas: equal facts give equal digests, whatever the order
// in which they came. Where blocks lie within a tier is not part of it.
func (x *ShardedBlockIndexer) Digest() (sum uint64) {
	for id := range x.alive.load().All() {
		h := &x.hosts[id]
		h.mu.RLock()
		sum += h.tiers.digest
		h.mu.RUnlock()
	}
	return sum
}
