package index

import (
	"sync"
	"unsafe"

	"octet/kvpool"
)

// Shards is how many independent maps the index is split into.
const Shards = 256

// golden is 2^64/φ.
const golden = 0x9E3779B97F4A7C15

// maxHold bounds how many blocks a writer changes under one shard lock, so that no reader waits for a scan.
const maxHold = 64

// shardOf spreads chained hashes by Fibonacci hashing: multiply by 2^64/φ, keep the high bits (Knuth 6.4).
func shardOf(b kvpool.BlockHash) uint8 { return uint8(uint64(b) * golden >> 56) }

// shard is one map of the index, alone on its cache line.
type shard struct {
	shardState
	_ [(64 - unsafe.Sizeof(shardState{})%64) % 64]byte
}

type shardState struct {
	mu     sync.RWMutex
	blocks map[kvpool.BlockHash]HostBitmap // who holds a block; no entry without a holder; guarded by mu
	locked uint64                          // times a writer has taken mu; guarded by mu
}

// holders returns who holds b.
func (s *shard) holders(b kvpool.BlockHash) HostBitmap {
	s.mu.RLock()
	held := s.blocks[b]
	s.mu.RUnlock()
	return held
}

// write carries out the changes of host from first on, along their links, and takes the lock once per maxHold of them.
func (s *shard) write(host HostID, changes []change, first int32, alive *sharedSet) {
	for first >= 0 {
		s.mu.Lock()
		s.locked++
		living := alive.load() // read under the lock: a host that has written here already counts as living
		for n := 0; n < maxHold && first >= 0; n++ {
			c := &changes[first]
			if c.held {
				s.set(c.block, host)
			} else {
				s.clear(c.block, host, living)
			}
			first = c.next
		}
		s.mu.Unlock()
	}
}

func (s *shard) set(b kvpool.BlockHash, host HostID) {
	held := s.blocks[b]
	held.Set(host)
	s.blocks[b] = held
}

// clear takes host's bit off b, and the entry with it when no living holder is left.
func (s *shard) clear(b kvpool.BlockHash, host HostID, living HostBitmap) {
	held, ok := s.blocks[b]
	if !ok {
		return
	}
	held.Clear(host)
	if held.And(living).Empty() {
		delete(s.blocks, b)
		return
	}
	s.blocks[b] = held
}
