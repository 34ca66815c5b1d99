package reference

import "octet/routing/index"

// What a map entry costs, from measurement: slots and control bytes at the mean load of a growing map.
const (
	entryBytes     = 64
	residencyBytes = 40
)

// Stats implements index.Inspector. It takes every shard's and every host's read lock in turn, so it is no snapshot of
// one moment.
func (x *ShardedBlockIndexer) Stats() (st index.Stats) {
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
		st.Bytes += int64(len(h.tiers.blocks)) * residencyBytes
		h.mu.RUnlock()
	}
	st.Lookups, st.Hints = x.lookups.Load(), x.hints.Load()
	return st
}

// Host implements index.Inspector.
func (x *ShardedBlockIndexer) Host(id index.HostID) index.HostState {
	if !x.Exists(id) {
		return index.HostState{}
	}
	h := &x.hosts[id]
	h.mu.RLock()
	defer h.mu.RUnlock()
	return index.HostState{
		Generation: h.generation, Epoch: h.order.Epoch, LastSeq: h.order.Last, Stale: h.order.Stale,
		Alive: x.IsAlive(id), Gaps: h.order.Gaps, Resyncs: h.resyncs,
		Blocks: h.tiers.held, Detached: h.tiers.detached,
	}
}

// Digest implements index.Inspector.
func (x *ShardedBlockIndexer) Digest() (sum uint64) {
	for id := range x.Alive().All() {
		h, salt := &x.hosts[id], index.Salt(id)
		h.mu.RLock()
		for b, r := range h.tiers.blocks {
			for t := range index.Tier(index.Tiers) {
				if r.tiers&(1<<t) != 0 {
					sum += index.FactDigest(salt, b, t)
				}
			}
		}
		h.mu.RUnlock()
	}
	return sum
}
