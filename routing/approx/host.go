package approx

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"octet/kvpool"
)

// unlimited is the size of the LRU itself: how much it holds is the host's to bound, and may change.
const unlimited = 1 << 30

// host is what was routed to one replica.
type host struct {
	mu        sync.Mutex
	blockwise atomic.Bool // lru is not nil
	runs      runRing     // what is held, until something is heard; changed under mu
	// What is held, block by block, from then on until nothing is left; else nil. Block ▶ when it stops to count, in
	// nanoseconds. Its order is that of routing and of those times.
	lru    *simplelru.LRU[kvpool.BlockHash, int64] // guarded by mu
	latest int64                                   // the largest of those times; guarded by mu
	bound  int                                     // blocks; guarded by mu
	ttl    int64                                   // nanoseconds; guarded by mu
	holes  bool                                    // a block may be here without the one before it; guarded by mu

	routed, found uint64 // blocks, as Stats has them; guarded by mu
}

// route makes chain the most recent of all, its first block before its second.
func (h *host) route(chain []kvpool.BlockHash, now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.routed += uint64(len(chain))
	if h.ttl <= 0 || len(chain) == 0 {
		return
	}
	h.latest = max(h.latest, now+h.ttl) // a clock that steps back must not mix the order of the times
	kept := chain[:min(len(chain), h.bound)]
	if h.lru == nil {
		h.found += uint64(h.runs.route(kept, now, h.latest))
	} else {
		h.found += uint64(h.leading(chain, 0, now))
		for i := len(kept) - 1; i >= 0; i-- {
			h.lru.Add(kept[i], h.latest)
		}
	}
	h.trim(now)
}

// trim drops what does not count at now any more, and the oldest beyond the bound. Under mu.
func (h *host) trim(now int64) {
	if h.lru == nil {
		if h.runs.trim(now, h.bound); h.runs.blocks == 0 {
			h.empty()
		}
		return
	}
	for {
		_, until, ok := h.lru.GetOldest()
		if !ok || until > now && h.lru.Len() <= h.bound {
			break
		}
		h.lru.RemoveOldest()
	}
	if h.lru.Len() == 0 {
		h.empty()
	}
}

// depth returns how many leading blocks of chain count at now, of which the first from are known to. It takes a lock
// only where blocks are held one by one.
func (h *host) depth(chain []kvpool.BlockHash, from int, now int64) int {
	if heads := h.runs.heads.Load(); heads != nil {
		return max(from, heads.leading(chain, now))
	}
	if !h.blockwise.Load() {
		return from
	}
	h.mu.Lock()
	n := h.leading(chain, from, now)
	h.mu.Unlock()
	return n
}

// leading is depth of blocks that are held one by one. Under mu.
func (h *host) leading(chain []kvpool.BlockHash, from int, now int64) int {
	if h.lru == nil { // not any more
		return from
	}
	if !h.counts(chain[from], now) {
		return from
	}
	from++
	if !h.holes {
		return from + sort.Search(len(chain)-from, func(i int) bool { return !h.counts(chain[from+i], now) })
	}
	for from < len(chain) && h.counts(chain[from], now) {
		from++
	}
	return from
}

func (h *host) counts(b kvpool.BlockHash, now int64) bool {
	until, ok := h.lru.Peek(b)
	return ok && until > now
}

// dropBlocks drops blocks wherever in their chains they are. The caller holds mu.
func (h *host) dropBlocks(blocks []kvpool.BlockHash) {
	if h.size() == 0 || len(blocks) == 0 {
		return
	}
	h.toBlocks()
	for _, b := range blocks {
		h.holes = h.lru.Remove(b) || h.holes
	}
	if h.lru.Len() == 0 {
		h.empty()
	}
}

// suppose makes blocks the most recent of all, the first before the second, wherever in their chains they are. The
// caller holds mu.
func (h *host) suppose(blocks []kvpool.BlockHash, now int64) {
	if h.ttl <= 0 || len(blocks) == 0 {
		return
	}
	h.latest = max(h.latest, now+h.ttl)
	h.toBlocks()
	h.holes = true
	for _, b := range slices.Backward(blocks[:min(len(blocks), h.bound)]) {
		h.lru.Add(b, h.latest)
	}
	h.trim(now)
}

// toBlocks holds block by block what was held in runs: from now on a block does not prove that those before it are
// held. The caller holds mu.
func (h *host) toBlocks() {
	if h.lru != nil {
		return
	}
	h.lru, _ = simplelru.NewLRU[kvpool.BlockHash, int64](unlimited, nil) // only sizes below one are faults
	h.runs.each(func(b kvpool.BlockHash, until int64) { h.lru.Add(b, until) })
	h.blockwise.Store(true)
	h.runs.empty()
}

// empty drops everything, and its memory. Under mu.
func (h *host) empty() {
	h.runs.empty()
	h.blockwise.Store(false)
	h.lru, h.latest, h.holes = nil, 0, false
}

// size is how many blocks are held. Under mu.
func (h *host) size() int {
	if h.lru != nil {
		return h.lru.Len()
	}
	return h.runs.blocks
}

func (h *host) held() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size()
}

// count adds what is held, and what it was good for.
func (h *host) count(s *Stats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Blocks += h.size()
	s.Routed += h.routed
	s.Found += h.found
}
