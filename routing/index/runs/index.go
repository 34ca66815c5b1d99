package runs

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// Indexer is the index.Indexer that serves by default. Safe for concurrent use. Queries take no lock; changes take
// turns, and none waits for a query.
//
// It takes at most Config.MaxBytes, or what its Account allows. When a Store would take more, runs that are not in use
// are evicted (see the package comment), so that the index knows less than the replicas hold, never more. What finds no
// room in spite of that is not recorded (Stats.Refused). Removing always works: if there is no room to note what is
// left behind a hole, that is dropped too.
//
// Lock order: a host's mu, then the tree's, then a host's tiersMu.
type Indexer struct {
	index.Slots
	below   index.CountedSet // replicas whose elsewhere may have something; set and cleared where it is written
	tree    *tree
	_       [64]byte // what follows is written all the time
	lookups counter
	_       [64]byte
	hints   atomic.Uint64
	hosts   [index.MaxHosts]hostTiers
}

// New returns an empty index without any living replica.
func New(c index.Config) (*Indexer, error) {
	c, err := c.Filled()
	if err != nil {
		return nil, err
	}
	x := &Indexer{tree: newTree(c.Account)}
	x.Size(c)
	x.tree.onForgotten = x.forgetTiers
	for i := range x.hosts {
		x.hosts[i].salt = index.Salt(index.HostID(i))
	}
	return x, nil
}

// Depths implements index.Reader. It takes one lookup for each stretch of the chain that was stored in one go, or where
// chains part, whatever the chain's length and the number of replicas, and no lock. A change during a query may show in
// part, in the depth of the replica that it is about.
func (x *Indexer) Depths(chain []kvpool.BlockHash, among index.HostBitmap, out *[index.MaxHosts]uint16) {
	if len(chain) == 0 {
		*out = [index.MaxHosts]uint16{}
		return
	}
	if len(chain) > math.MaxUint16 {
		chain = chain[:math.MaxUint16]
	}
	// this and the bucket of its first block are on their way while the rest is prepared
	ahead := uint64(chain[len(chain)-1])
	if !lockedReads {
		ahead += x.tree.heads.prefetch(chain[:1])
	}
	*out = [index.MaxHosts]uint16{}
	var d query // field by field: a literal is made beside it and copied, which stalls
	d.chain, d.out = chain, out
	for i := range d.live {
		d.live[i] = among[i] & x.AliveWord(i)
		d.any |= d.live[i]
	}
	x.tree.depths(&d)
	x.lookups.about(uint8(mix(chain[0])>>56), d.looks)
	runtime.KeepAlive(ahead)
}

// hostTiers is what the index knows of one slot besides which blocks it holds.
type hostTiers struct {
	salt uint64 // of this slot in digests

	mu         sync.RWMutex       // orders this replica's writers
	generation uint32             // guarded by mu; how many replicas have had the slot
	order      index.Order        // guarded by mu
	resyncs    uint64             // guarded by mu
	gone       []kvpool.BlockHash // guarded by mu; scratch

	// Written under the tree's mu and either mu or tiersMu, which is all that an eviction takes; read under one of the
	// three.
	tiersMu   sync.RWMutex
	elsewhere map[kvpool.BlockHash]tierSet // held blocks that are not in the GPU tier alone
}

// tierSet is a set of tiers: bit t for tier t.
type tierSet uint8
