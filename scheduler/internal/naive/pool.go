// Package naive is a block pool that is slow and obvious. The tests of the Core and of the Gate build their oracles on
// it.
//
//	naive Core ──┐
//	             ├──▶ Pool: a list of free blocks, two maps
//	naive Gate ──┘
package naive

import (
	"maps"
	"slices"

	"octet/kvpool"
)

// Pool is kvpool.Pool as one would write it without thinking of speed: a list and two maps.
type Pool struct {
	BlockSize int              // tokens
	Free      []kvpool.BlockID // in the order of taking
	Refs      map[kvpool.BlockID]int
	Content   map[kvpool.BlockID]kvpool.BlockHash

	hasher kvpool.Hasher
}

// NewPool returns a pool whose blocks are all free and empty.
func NewPool(blocks, size int, seed uint64) *Pool {
	p := &Pool{BlockSize: size, hasher: kvpool.NewHasher(seed), Refs: map[kvpool.BlockID]int{},
		Content: map[kvpool.BlockID]kvpool.BlockHash{}}
	for id := range kvpool.BlockID(blocks) {
		p.Free = append(p.Free, id)
	}
	return p
}

// Clone returns a deep copy.
func (p *Pool) Clone() *Pool {
	return &Pool{BlockSize: p.BlockSize, hasher: p.hasher, Free: slices.Clone(p.Free), Refs: maps.Clone(p.Refs),
		Content: maps.Clone(p.Content)}
}

// Blocks returns how many blocks hold so many tokens.
func (p *Pool) Blocks(tokens int) int { return (tokens + p.BlockSize - 1) / p.BlockSize }

// Trim releases the blocks of table beyond the first n. What has content is taken last.
func (p *Pool) Trim(table *[]kvpool.BlockID, n int) {
	for len(*table) > n {
		id := (*table)[len(*table)-1]
		*table = (*table)[:len(*table)-1]
		if p.Refs[id]--; p.Refs[id] > 0 {
			continue
		}
		if _, ok := p.Content[id]; ok {
			p.Free = append(p.Free, id)
		} else {
			p.Free = slices.Insert(p.Free, 0, id)
		}
	}
}

// Extend grows table to n blocks. Where too few are free it changes nothing and returns false.
func (p *Pool) Extend(table *[]kvpool.BlockID, n int) bool {
	if n-len(*table) > len(p.Free) {
		return false
	}
	for len(*table) < n {
		id := p.Free[0]
		p.Free = p.Free[1:]
		delete(p.Content, id)
		p.Refs[id] = 1
		*table = append(*table, id)
	}
	return true
}

// Share appends a block that has content already.
func (p *Pool) Share(table *[]kvpool.BlockID, id kvpool.BlockID) {
	p.Free = slices.DeleteFunc(p.Free, func(f kvpool.BlockID) bool { return f == id })
	p.Refs[id]++
	*table = append(*table, id)
}

// Hash names the block at the end of tokens by hashing all of them again.
func (p *Pool) Hash(root kvpool.BlockHash, tokens []uint32) kvpool.BlockHash {
	chain := p.hasher.Chain(nil, root, tokens, p.BlockSize)
	return chain[len(chain)-1]
}

// Holder returns the block with that content.
func (p *Pool) Holder(h kvpool.BlockHash) (kvpool.BlockID, bool) {
	for id, content := range p.Content {
		if content == h {
			return id, true
		}
	}
	return 0, false
}
