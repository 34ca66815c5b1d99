package index

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"octet/kvpool"
)

// ErrConfig is what New answers a Config with that cannot be.
var ErrConfig = errors.New("index: bad config")

// Config sizes an index.
type Config struct {
	Hosts  int // slots, at most MaxHosts; 0 = MaxHosts
	Sweeps int // sweeps that run side by side; 0 = 2
}

// ShardedBlockIndexer knows which replica holds which block. Safe for concurrent use; queries take one shard's read lock at a
// time and nothing else. Lock order: a host's mu, then one shard's mu.
type ShardedBlockIndexer struct {
	shards   [Shards]shard // first in a struct too large for a size class, which begins a page: each has its own cache line
	alive    sharedSet     // replicas outside it are masked out of every answer
	used     sharedSet     // slots that are not reusable: alive, or retired and not swept
	stale    sharedSet     // replicas that missed events
	suspects sharedSet     // replicas whose blocks may have holes before them
	lookups  counter
	hints    atomic.Uint64
	hosts    [MaxHosts]host
	size     int           // slots in use: hosts[:size]
	sweeps   chan struct{} // cap == Config.Sweeps: one place for each running sweep
}

// Indexer is the index that serves.
type Indexer = ShardedBlockIndexer

// host is what the index knows of one slot.
type host struct {
	salt     uint64        // of this slot in digests
	sweeping chan struct{} // cap == 1: held by the slot's running sweep

	mu      sync.RWMutex // orders this replica's writers
	order   order        // guarded by mu
	resyncs uint64       // guarded by mu
	tiers   tierMap      // guarded by mu
	pending *changes     // guarded by mu; nil while the slot is not in use
}

// New returns an empty index without any living replica.
func New(c Config) (*ShardedBlockIndexer, error) {
	if c.Hosts < 0 || c.Hosts > MaxHosts {
		return nil, fmt.Errorf("%w: %d hosts, this build holds 0 to %d", ErrConfig, c.Hosts, MaxHosts)
	}
	if c.Sweeps < 0 {
		return nil, fmt.Errorf("%w: %d sweeps", ErrConfig, c.Sweeps)
	}
	if c.Hosts == 0 {
		c.Hosts = MaxHosts
	}
	if c.Sweeps == 0 {
		c.Sweeps = 2
	}
	x := &ShardedBlockIndexer{size: c.Hosts, sweeps: make(chan struct{}, c.Sweeps)}
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
	if int(h) >= x.size {
		return nil
	}
	return &x.hosts[h]
}

// Alive returns the replicas that answers may name. It takes no lock.
func (x *ShardedBlockIndexer) Alive() HostBitmap { return x.alive.load() }

// Stale returns the living replicas that missed events: what the index says of them is a guess. It takes no lock.
func (x *ShardedBlockIndexer) Stale() HostBitmap { return x.stale.load().And(x.alive.load()) }

// counter counts on several cache lines, so that queries side by side do not fight for one.
type counter [8]struct {
	n atomic.Uint64
	_ [56]byte
}

func (c *counter) add(stripe uint8, n int) { c[stripe%uint8(len(c))].n.Add(uint64(n)) }

func (c *counter) load() (sum uint64) {
	for i := range c {
		sum += c[i].n.Load()
	}
	return sum
}
