package kvpool

import (
	"errors"
	"fmt"
	"math"
)

// ErrSize is returned for a pool that cannot be.
var ErrSize = errors.New("kvpool: impossible size")

// Pool is a fixed number of KV blocks of blockSize tokens each. Not safe for concurrent use.
type Pool struct {
	blockSize int
	blocks    []block   // one per physical block, and the free list's sentinel behind them
	prefix    prefixMap // content that can be shared, in use or not
	free      int       // length of the free list
	onEvict   func(BlockHash)
	drops     []int32  // scratch of Imagined, all zero between uses
	shared    []uint64 // bit set: blocks that more than one table lists; small enough to stay in a core's cache
}

// block is 24 bytes, so that a pool of 100,000 costs 2.4 MB.
type block struct {
	hash       BlockHash // its content's name; meaningful while cached
	prev, next BlockID   // neighbours on the free list; meaningful while refs is 0
	refs       int32     // tables that list it
	cached     bool      // the prefix map names it
}

// NewPool returns a pool of blocks free blocks of blockSize tokens. Its size never changes.
func NewPool(blocks, blockSize int) (*Pool, error) {
	if blocks < 1 || blocks > math.MaxInt32-1 || blockSize < 1 {
		return nil, fmt.Errorf("%w: %d blocks of %d tokens", ErrSize, blocks, blockSize)
	}
	p := &Pool{
		blockSize: blockSize,
		blocks:    make([]block, blocks+1),
		prefix:    newPrefixMap(blocks),
		drops:     make([]int32, blocks),
		shared:    make([]uint64, (blocks+63)/64),
	}
	p.blocks[blocks].prev, p.blocks[blocks].next = p.sentinel(), p.sentinel()
	for id := range BlockID(blocks) {
		p.pushBack(id)
	}
	return p, nil
}

// OnEvict has f called with the name of each content that leaves the cache, at the moment it does. f must not use the pool.
func (p *Pool) OnEvict(f func(BlockHash)) { p.onEvict = f }

// BlockSize returns the tokens a block holds.
func (p *Pool) BlockSize() int { return p.blockSize }

// Total returns the number of blocks, constant for life.
func (p *Pool) Total() int { return len(p.blocks) - 1 }

// Free returns the blocks that nobody references: empty ones, and cached ones that may be evicted.
func (p *Pool) Free() int { return p.free }

// Used returns the blocks that some table references.
func (p *Pool) Used() int { return p.Total() - p.free }

// Cached returns the blocks whose content can be shared, referenced or not.
func (p *Pool) Cached() int { return p.prefix.used }

// Blocks returns how many blocks tokens tokens take.
func (p *Pool) Blocks(tokens int) int { return (tokens + p.blockSize - 1) / p.blockSize }

// Match returns how many leading blocks of chain are cached. One map probe a block at most, up to the first miss.
// A caller that must compute at least one token of n passes at most (n-1)/BlockSize hashes.
func (p *Pool) Match(chain []BlockHash) int {
	w := walk{step: 1}
	for i, h := range chain {
		if !p.next(&w, h) {
			return i
		}
	}
	return len(chain)
}

// walk finds the blocks of one chain, one after the other. Blocks that were taken together have neighbouring numbers, rising or
// falling, so that the next one mostly needs no map probe.
type walk struct{ at, step BlockID }

// next moves w to the cached block that holds h, which follows; false where there is none.
func (p *Pool) next(w *walk, h BlockHash) bool {
	id := w.at + w.step
	if uint(id) < uint(len(p.blocks)) && p.blocks[id].hash == h && p.blocks[id].cached {
		w.at = id
		return true
	}
	return p.seek(w, h)
}

func (p *Pool) seek(w *walk, h BlockHash) bool {
	id, hit := p.prefix.find(h)
	if gap := id - w.at; gap == 1 || gap == -1 {
		w.step = gap
	}
	w.at = id
	return hit
}

// Fits reports whether a table of n blocks could be had now, sharing what is cached of chain, and how many it would share.
// An idle cached block that is shared leaves the free list too, so it is not counted twice.
// Where even that many hits could not help, one probe says so: a blocked long prompt costs nothing to ask for again.
func (p *Pool) Fits(chain []BlockHash, n int) (reuse int, ok bool) {
	if short := n - p.free; short > 0 {
		if short > len(chain) {
			return 0, false
		}
		if _, hit := p.prefix.find(chain[short-1]); !hit {
			return 0, false
		}
	}
	idle := 0
	w := walk{step: 1}
	for _, h := range chain {
		if !p.next(&w, h) {
			break
		}
		reuse++
		if p.blocks[w.at].refs == 0 {
			idle++
		}
	}
	return reuse, n-reuse <= p.free-idle
}

func (p *Pool) sentinel() BlockID { return BlockID(len(p.blocks) - 1) }

// take removes the head of the free list and evicts what it holds. The list must not be empty.
func (p *Pool) take() BlockID {
	id := p.blocks[p.sentinel()].next
	p.unlink(id)
	b := &p.blocks[id]
	b.refs = 1
	if b.cached {
		b.cached = false
		p.prefix.remove(b.hash)
		if p.onEvict != nil {
			p.onEvict(b.hash)
		}
	}
	return id
}

// hold adds a reference to a cached block.
func (p *Pool) hold(id BlockID) {
	switch p.blocks[id].refs++; p.blocks[id].refs {
	case 1:
		p.unlink(id)
	case 2:
		p.shared[id>>6] |= 1 << (id & 63)
	}
}

// drop takes a reference back from each of ids, last first. The last one puts a block on the free list: cached content where it
// is evicted last, an empty block where it is taken next.
func (p *Pool) drop(ids []BlockID) {
	end := p.sentinel()
	last := p.blocks[end].prev // of the free list; written back below, with its link to the end
	for i := len(ids) - 1; i >= 0; i-- {
		id := ids[i]
		b := &p.blocks[id]
		switch {
		case b.refs != 1:
			p.unshare(id)
		case b.cached:
			b.refs = 0
			b.prev = last
			p.blocks[last].next = id
			last = id
			p.free++
		default:
			b.refs = 0
			p.blocks[last].next, p.blocks[end].prev = end, last
			p.pushFront(id)
			last = p.blocks[end].prev
		}
	}
	p.blocks[last].next, p.blocks[end].prev = end, last
}

// unshare takes a reference back that is not the last.
func (p *Pool) unshare(id BlockID) {
	b := &p.blocks[id]
	if b.refs <= 0 {
		panic(fmt.Sprintf("kvpool: releasing block %d, which has %d references", id, b.refs))
	}
	if b.refs--; b.refs == 1 {
		p.shared[id>>6] &^= 1 << (id & 63)
	}
}

func (p *Pool) unlink(id BlockID) {
	b := &p.blocks[id]
	p.blocks[b.prev].next = b.next
	p.blocks[b.next].prev = b.prev
	p.free--
}

func (p *Pool) pushBack(id BlockID) { p.insert(id, p.blocks[p.sentinel()].prev) }

func (p *Pool) pushFront(id BlockID) { p.insert(id, p.sentinel()) }

func (p *Pool) insert(id, after BlockID) {
	next := p.blocks[after].next
	p.blocks[id].prev, p.blocks[id].next = after, next
	p.blocks[after].next, p.blocks[next].prev = id, id
	p.free++
}
