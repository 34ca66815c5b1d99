package tiny

import (
	"fmt"

	"octet/kvpool"
)

// cache is the memory of an engine: for each position of each physical block its keys and values, and its token id.
// The scheduler decides which sequence may use a block; nothing is read or written but through a block table.
type cache struct {
	blockSize int
	keys      [layers][][kvWidth]float32 // by block × blockSize + offset
	values    [layers][][kvWidth]float32
	tokens    []uint32

	ends  []state  // of a hybrid, by block: the state after the block's last position
	tails [][]mark // of a hybrid, by block: the states within it at which a step may begin
}

// mark is the state after at positions of a sequence.
type mark struct {
	at    int
	state state
}

// newCache returns the memory that m needs for blocks of blockSize tokens.
func newCache(m *Model, blocks, blockSize int) *cache {
	c := &cache{blockSize: blockSize, tokens: make([]uint32, blocks*blockSize)}
	for l := range layers {
		if m.hybrid && l == ssmLayer {
			continue
		}
		c.keys[l] = make([][kvWidth]float32, blocks*blockSize)
		c.values[l] = make([][kvWidth]float32, blocks*blockSize)
	}
	if m.hybrid {
		c.ends, c.tails = make([]state, blocks), make([][]mark, blocks)
	}
	return c
}

// cell returns where position at of a sequence is.
func (c *cache) cell(table []kvpool.BlockID, at int) int {
	return int(table[at/c.blockSize])*c.blockSize + at%c.blockSize
}

// history appends the first n tokens of a sequence to dst.
func (c *cache) history(dst []uint32, table []kvpool.BlockID, n int) []uint32 {
	for _, id := range table {
		first := int(id) * c.blockSize
		take := min(n, c.blockSize)
		dst = append(dst, c.tokens[first:first+take]...)
		n -= take
	}
	return dst
}

// stateAt returns the state after the first at positions, and forgets those after them.
func (c *cache) stateAt(table []kvpool.BlockID, at int) state {
	if at == 0 {
		return state{}
	}
	id := table[(at-1)/c.blockSize]
	if at%c.blockSize == 0 {
		return c.ends[id]
	}
	for i, m := range c.tails[id] {
		if m.at == at {
			c.tails[id] = append(c.tails[id][:0], c.tails[id][i])
			return m.state
		}
	}
	panic(fmt.Sprintf("tiny: no state after %d positions in block %d", at, id))
}

// keepState keeps the state after the first at positions: always at the end of a block, and within one when a step may
// begin there.
func (c *cache) keepState(table []kvpool.BlockID, at int, s *state, begins bool) {
	id := table[(at-1)/c.blockSize]
	switch {
	case at%c.blockSize == 0:
		c.ends[id] = *s
		return
	case at%c.blockSize == 1: // the block is new, or written anew
		c.tails[id] = c.tails[id][:0]
	}
	if begins {
		c.tails[id] = append(c.tails[id], mark{at, *s})
	}
}
