package runs

import (
	"runtime"
	"sync"

	"octet/kvpool"
	"octet/routing/index"
)

// tree is the block index proper: which replica holds which block, in runs. It knows nothing of tiers, order or life.
// It stands on three layers, each of which embeds the one below:
//
//	tree      what a Store or a Remove does to runs
//	evictor   makes room, at the cost of runs that are not in use
//	storage   headers, arrays and tables
//	view      what readers follow, and how they read
//
// One writer at a time, under mu. Readers take no lock; see depths.
type tree struct {
	evictor

	mu      sync.RWMutex
	refused uint64 // blocks that were not recorded because there was no room
	locked  uint64 // times that mu was taken for a batch
	gaps    []span // scratch
}

func newTree(a *index.Account) *tree {
	t := &tree{}
	t.mem, t.top = &budget{account: a, limit: a.Limit()}, 1
	t.onForgotten = func(index.HostID, []kvpool.BlockHash) {}
	t.runs = newSlab(t.mem, runSize<<runBits)
	t.arena = newArena(t.mem)
	t.arrays = t.arena.slab
	t.heads = newHashtable(nil, 2, func(e uint64) uint64 { return t.at(entryID(e)).first * index.Golden })
	t.blocks = newHashtable(t.mem, 5, func(e uint64) uint64 { return t.hashAt(entryID(e), entryOff(e)) * index.Golden })
	runtime.AddCleanup(t, (*budget).release, t.mem)
	return t
}
