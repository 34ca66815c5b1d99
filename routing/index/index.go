package index

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"octet/kvpool"
)

// Indexer knows which replica holds which block: the index that serves. Safe for concurrent use. Queries take no lock;
// changes take turns, and none waits for a query.
//
// It takes at most Config.MaxBytes, or what its Account allows. When a Store would take more, runs that are not in use
// are evicted (see the package comment), so that the index knows less than the replicas hold, never more. What finds no
// room in spite of that is not recorded (Stats.Refused). Removing always works; where even the note of what is left
// behind a hole finds no room, that is forgotten too.
//
// Lock order: a host's mu, then the tree's, then a host's tiersMu.
type Indexer struct {
	slots
	tree    *runTree
	_       [64]byte // what follows is written all the time
	lookups counter
	_       [64]byte
	hints   atomic.Uint64
	hosts   [MaxHosts]copies
}

// New returns an empty index without any living replica.
func New(c Config) (*Indexer, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	x := &Indexer{slots: newSlots(c), tree: newRunTree(c.Account)}
	x.tree.parted = x.parted
	for i := range x.hosts {
		x.hosts[i].salt = factDigest(golden, kvpool.BlockHash(i), 0)
		x.hosts[i].sweeping = make(chan struct{}, 1)
	}
	return x, nil
}

// Depths sets out[h] to the number of leading blocks of chain that replica h holds, for each living h in among, and to
// 0 for everybody else. chain begins where chains begin: chain[0] follows no block. It equals a block-by-block scan for
// any content that came with true claims (see Op), takes one look for each stretch of the chain that was stored in one
// go or parts from others there, whatever the chain's length and the number of replicas, takes no lock and allocates
// nothing. Blocks after the 65,535th do not count. A change that meets a running query may show in part, in the depth
// of the replica that it is of.
func (x *Indexer) Depths(chain []kvpool.BlockHash, among HostBitmap, out *[MaxHosts]uint16) {
	if len(chain) == 0 {
		*out = [MaxHosts]uint16{}
		return
	}
	if len(chain) > math.MaxUint16 {
		chain = chain[:math.MaxUint16]
	}
	ahead := uint64(chain[len(chain)-1]) // this and its beginning's line are on their way while the rest is prepared
	if !lockedReads {
		ahead += x.tree.heads.touch(chain[:1])
	}
	*out = [MaxHosts]uint16{}
	var d descent // field by field: a literal is made beside it and copied, which stalls
	d.chain, d.out = chain, out
	for i := range d.live {
		d.live[i] = among[i] & x.alive[i].Load()
		d.any |= d.live[i]
	}
	x.tree.descend(&d)
	x.lookups.about(shardOf(chain[0]), d.looks)
	runtime.KeepAlive(ahead)
}

// Hint appends where replica h holds the first depth blocks of chain, in the fastest tier of each, and stops at the
// first that it does not hold. It reads h's tier map, which no query does: ask for the winner only. Extent is zero
// where the replica gave none.
func (x *Indexer) Hint(id HostID, chain []kvpool.BlockHash, depth int, dst []Location) []Location {
	if !x.exists(id) || !x.alive.has(id) {
		return dst
	}
	x.hints.Add(1)
	h := &x.hosts[id]
	h.mu.RLock()
	defer h.mu.RUnlock()
	chain = chain[:max(0, min(depth, len(chain), math.MaxUint16))]
	from := len(dst)
	dst = h.locations(chain, dst)
	var out [MaxHosts]uint16
	x.Depths(chain, HostSet(id), &out) // afterwards: what is evicted meanwhile does not count
	return dst[:from+int(out[id])]
}

// locations appends where h has each block of chain, provided that it has it.
func (h *copies) locations(chain []kvpool.BlockHash, dst []Location) []Location {
	h.tiersMu.RLock()
	defer h.tiersMu.RUnlock()
	for _, b := range chain {
		tier := h.fastest(b)
		dst = append(dst, Location{Block: b, Tier: tier, Extent: h.extents[place{b, tier}]})
	}
	return dst
}

// copies is what the index knows of one slot besides which blocks it holds.
type copies struct {
	salt     uint64        // of this slot in digests
	sweeping chan struct{} // cap == 1: held by the slot's running sweep
	slower   atomic.Bool   // false: elsewhere is empty. Written where elsewhere is

	mu         sync.RWMutex       // orders this replica's writers
	generation uint32             // guarded by mu; how many replicas have had the slot
	order      order              // guarded by mu
	resyncs    uint64             // guarded by mu
	parting    []kvpool.BlockHash // guarded by mu; scratch

	// Written under the tree's mu and either mu or tiersMu, which is all that an eviction takes; read under one of the
	// three.
	tiersMu   sync.RWMutex
	elsewhere map[kvpool.BlockHash]tierSet // held blocks that are not in the GPU tier alone
	extents   map[place]Extent             // only of copies whose extent was given
}

// tierSet is a set of tiers: bit t for tier t.
type tierSet uint8
