package index

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"octet/kvpool"
)

// ShardedBlockIndexer knows which replica holds which block: the readable reference for Indexer, with the same
// contract. Safe for concurrent use; queries take one shard's read lock at a time and nothing else. Its memory is
// bounded by what its replicas hold, and by nothing else. Lock order: a host's mu, then one shard's mu.
type ShardedBlockIndexer struct {
	// first in a struct too large for a size class, which begins a page: each has its own cache line
	shards [Shards]shard
	slots
	suspects sharedSet // replicas whose blocks may have holes before them
	lookups  counter
	hints    atomic.Uint64
	hosts    [MaxHosts]host
}

// host is what the index knows of one slot.
type host struct {
	salt     uint64        // of this slot in digests
	sweeping chan struct{} // cap == 1: held by the slot's running sweep

	mu         sync.RWMutex // orders this replica's writers
	generation uint32       // guarded by mu; how many replicas have had the slot
	order      order        // guarded by mu
	resyncs    uint64       // guarded by mu
	tiers      tierMap      // guarded by mu
	pending    *changes     // guarded by mu; nil while the slot is not in use
}

// NewSharded returns an empty reference index without any living replica.
func NewSharded(c Config) (*ShardedBlockIndexer, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	x := &ShardedBlockIndexer{slots: newSlots(c)}
	for i := range x.shards {
		x.shards[i].blocks = map[kvpool.BlockHash]HostBitmap{}
	}
	for i := range x.hosts {
		x.hosts[i].salt = factDigest(golden, kvpool.BlockHash(i), 0)
		x.hosts[i].sweeping = make(chan struct{}, 1)
	}
	return x, nil
}

// host returns the slot h, nil when there is none.
func (x *ShardedBlockIndexer) host(h HostID) *host {
	if !x.exists(h) {
		return nil
	}
	return &x.hosts[h]
}

// counter counts on several cache lines, so that queries side by side do not fight for one.
type counter [8]struct {
	n atomic.Uint64
	_ [56]byte
}

func (c *counter) add(stripe uint8, n int) { c[stripe%uint8(len(c))].n.Add(uint64(n)) }

// about is add without the lock on the bus, which costs as much as a look: of queries that meet here one may go
// uncounted.
func (c *counter) about(stripe uint8, n int) {
	if lockedReads {
		c.add(stripe, n)
		return
	}
	at := (*uint64)(unsafe.Pointer(&c[stripe%uint8(len(c))].n))
	put64(at, atomic.LoadUint64(at)+uint64(n))
}

func (c *counter) load() (sum uint64) {
	for i := range c {
		sum += c[i].n.Load()
	}
	return sum
}
