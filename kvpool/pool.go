package kvpool

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// ErrSize is returned for a pool that cannot be.
var ErrSize = errors.New("kvpool: impossible size")

// Pool is a fixed number of KV blocks of blockSize tokens each. Not safe for concurrent use.
type Pool struct {
	blockSize    int
	shift        uint8     // log2(blockSize) + 1 of a power of two, else 0
	blocks       []block   // one per physical block
	empty        []BlockID // free and without content: the last one is taken next
	runs         runTable  // of the blocks with content
	prefix       prefixMap // content that can be shared, in use or not
	onEvict      func(BlockHash)
	imaginedRuns []runID // that an Imagined would share; scratch
}

// block is 16 bytes: with its share of the runs and of the map, a pool of 100,000 costs some 8 MB.
type block struct {
	hash BlockHash // its content's name; meaningful in a run
	run  runID     // that it is in, which is cached; or private, or free
	at   int32     // its place in the run
}

const (
	private runID = 0  // one table lists it, and it has no content that could be shared
	free    runID = -1 // in Pool.empty
)

// NewPool returns a pool of blocks free blocks of blockSize tokens. Its size never changes.
func NewPool(blocks, blockSize int) (*Pool, error) {
	if blocks < 1 || blocks > math.MaxInt32-1 || blockSize < 1 {
		return nil, fmt.Errorf("%w: %d blocks of %d tokens", ErrSize, blocks, blockSize)
	}
	p := &Pool{
		blockSize: blockSize, blocks: make([]block, blocks), empty: make([]BlockID, blocks),
		runs: newRunTable(blocks), prefix: newPrefixMap(blocks),
	}
	if blockSize&(blockSize-1) == 0 {
		p.shift = uint8(bits.Len(uint(blockSize)))
	}
	for i := range p.empty {
		p.blocks[i].run, p.empty[i] = free, BlockID(blocks-1-i)
	}
	return p, nil
}

// OnEvict has f called with the name of each content that leaves the cache, at the moment it does. f must not use the
// pool.
func (p *Pool) OnEvict(f func(BlockHash)) { p.onEvict = f }

// BlockSize returns the tokens a block holds.
func (p *Pool) BlockSize() int { return p.blockSize }

// Total returns the number of blocks, constant for life.
func (p *Pool) Total() int { return len(p.blocks) }

// Free returns the blocks that no table references: empty ones, and cached ones that may be evicted.
func (p *Pool) Free() int { return len(p.empty) + p.runs.idleBlocks }

// Empty returns the blocks that can be had without evicting content.
func (p *Pool) Empty() int { return len(p.empty) }

// Used returns the blocks that some table references.
func (p *Pool) Used() int { return p.Total() - p.Free() }

// Cached returns the blocks whose content can be shared, referenced or not.
func (p *Pool) Cached() int { return p.prefix.used }

// Blocks returns how many blocks tokens tokens take.
func (p *Pool) Blocks(tokens int) int {
	if p.shift > 0 {
		return (tokens + p.blockSize - 1) >> ((p.shift - 1) & 63)
	}
	return (tokens + p.blockSize - 1) / p.blockSize
}

// Match returns how many leading blocks of chain are cached. One step a run, up to the first miss.
// A caller that must compute at least one token of n passes at most (n-1)/BlockSize hashes.
func (p *Pool) Match(chain []BlockHash) (n int) {
	var s match
	for n < len(chain) {
		if s = p.matchRun(chain[n:], s.run); s.n == 0 {
			break
		}
		n += s.n
	}
	return n
}

// Fits returns true if a table of n blocks could be had now, sharing what is cached of chain, and how many blocks it
// would share. An idle cached block that is shared is not free any more, so it is not counted twice. If even that many
// hits could not help, one probe of the map tells: a blocked long prompt costs next to nothing to ask for again.
func (p *Pool) Fits(chain []BlockHash, n int) (reuse int, ok bool) {
	if short := n - p.Free(); short > 0 {
		if short > len(chain) {
			return 0, false
		}
		if _, hit := p.prefix.find(chain[short-1]); !hit {
			return 0, false
		}
	}
	idle := 0
	var s match
	for reuse < len(chain) {
		if s = p.matchRun(chain[reuse:], s.run); s.n == 0 {
			break
		}
		reuse += s.n
		if p.runs.all[s.run].refs == 0 {
			idle += s.n
		}
	}
	return reuse, n-reuse <= p.Free()-idle
}

// allocate sets ids to free blocks: empty ones first, then those whose content has to go. There must be as many.
func (p *Pool) allocate(ids []BlockID) {
	left := max(0, len(p.empty)-len(ids))
	empty := p.empty[left:]
	p.empty = p.empty[:left]
	for i := range empty {
		id := empty[len(empty)-1-i]
		p.blocks[id].run = private
		ids[i] = id
	}
	for ids = ids[len(empty):]; len(ids) > 0; {
		ids = ids[p.evict(ids):]
	}
}

// evict sets ids to the end of the run that has been idle for longest, and returns how many blocks that are, all that
// the run has at most.
func (p *Pool) evict(ids []BlockID) int {
	first := p.runs.all[0].next
	one, own := &p.runs.all[first], p.runs.blocks(first)
	n := min(len(ids), len(own))
	for i := range n {
		id := own[len(own)-1-i]
		b := &p.blocks[id]
		b.run = private
		p.prefix.remove(b.hash)
		if p.onEvict != nil {
			p.onEvict(b.hash)
		}
		ids[i] = id
	}
	p.runs.idleBlocks -= n
	if one.size -= int32(n); one.size > 0 {
		one.last = p.blocks[own[one.size-1]].hash
		return n
	}
	p.runs.unlink(first)
	p.runs.release(first)
	return n
}

// release removes a reference from each of ids, which are whole runs and private blocks, last first: content becomes
// idle and is evicted last, an empty block is taken next.
func (p *Pool) release(ids []BlockID) {
	for i := len(ids); i > 0; {
		id := ids[i-1]
		switch b := &p.blocks[id]; b.run {
		case private:
			b.run = free
			p.empty = append(p.empty, id)
			i--
		case free:
			panic(released(id, 0))
		default:
			p.dropRef(b.run)
			i -= int(b.at) + 1
		}
	}
}

func released(id BlockID, refs int) string {
	return fmt.Sprintf("kvpool: releasing block %d, which has %d references", id, refs)
}
