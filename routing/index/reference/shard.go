package reference

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"

	"octet/kvpool"
	"octet/routing/index"
)

// Shards is how many independent maps the index is split into.
const Shards = 256

// maxHold bounds how many blocks a writer changes under one shard lock, so that no reader waits for a scan.
const maxHold = 64

// shardOf spreads chained hashes by Fibonacci hashing: multiply by 2^64/φ, keep the high bits (Knuth 6.4).
func shardOf(b kvpool.BlockHash) uint8 { return uint8(uint64(b) * index.Golden >> 56) }

// shard is one map of the index, alone on its cache line.
type shard struct {
	shardState
	_ [(64 - unsafe.Sizeof(shardState{})%64) % 64]byte
}

type shardState struct {
	mu     sync.RWMutex
	blocks map[kvpool.BlockHash]index.HostBitmap // the holders of a block; no entry without one; guarded by mu
	locked uint64                                // times a writer has taken mu; guarded by mu
}

// holders returns the holders of b.
func (s *shard) holders(b kvpool.BlockHash) index.HostBitmap {
	s.mu.RLock()
	held := s.blocks[b]
	s.mu.RUnlock()
	return held
}

// change is one bit to set or clear.
type change struct {
	block kvpool.BlockHash
	held  bool
}

// flush carries out the changes that are pending for h, those of one shard together and in their order.
func (x *ShardedBlockIndexer) flush(id index.HostID, h *host) {
	slices.SortStableFunc(h.pending, func(a, b change) int { return cmp.Compare(shardOf(a.block), shardOf(b.block)) })
	for rest := h.pending; len(rest) > 0; {
		at, n := shardOf(rest[0].block), 1
		for n < min(len(rest), maxHold) && shardOf(rest[n].block) == at {
			n++
		}
		x.shards[at].write(id, rest[:n], &x.Slots)
		rest = rest[n:]
	}
	h.pending = h.pending[:0]
}

// write carries out changes of one host under one lock.
func (s *shard) write(id index.HostID, changes []change, slots *index.Slots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked++
	living := slots.Alive() // read under the lock: a host that has written here already counts as living
	for _, c := range changes {
		held, known := s.blocks[c.block]
		switch {
		case c.held:
			held.Set(id)
			s.blocks[c.block] = held
		case known:
			held.Clear(id)
			s.blocks[c.block] = held
			if held.And(living).Empty() {
				delete(s.blocks, c.block)
			}
		}
	}
}
