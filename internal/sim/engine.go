package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"octet/kvpool"
	"octet/scheduler/core"
)

// Cost is an engine's arithmetic: a step takes Step, and Prefill for each prompt token, and Decode for each token
// sampled.
type Cost struct {
	Step, Prefill, Decode time.Duration
	Noise                 float64 // a step takes between 1-Noise and 1+Noise times that
}

func (c *Cost) of(prefill, decodes int, dice *rand.Rand) time.Duration {
	exact := c.Step + time.Duration(prefill)*c.Prefill + time.Duration(decodes)*c.Decode
	if c.Noise == 0 {
		return exact
	}
	return time.Duration(float64(exact) * (1 + c.Noise*(2*dice.Float64()-1)))
}

// garbage is what a rejected draft or a failed step leaves in the cache.
const garbage = ^uint64(0)

// memory is an engine's KV cache: one cell a position, holding a hash of all tokens up to it, so that a cell is right
// only where the whole prefix is.
type memory struct {
	cells     []uint64
	written   []uint64 // by block: the last step that wrote it
	blockSize int
}

func newMemory(blocks, blockSize int) memory {
	return memory{cells: make([]uint64, blocks*blockSize), written: make([]uint64, blocks), blockSize: blockSize}
}

func (m *memory) cell(it *core.Item, position int) *uint64 { return m.at(it.Table, position) }

func (m *memory) at(table []kvpool.BlockID, position int) *uint64 {
	return &m.cells[int(table[position/m.blockSize])*m.blockSize+position%m.blockSize]
}

// read proves that the positions from..to-1 hold what the sequence has there.
func (m *memory) read(it *core.Item, content []uint64, from, to int) error {
	for p := from; p < to; p++ {
		if got := *m.cell(it, p); got != content[p] {
			return fmt.Errorf("position %d of %d reads another one's content in block %d", p, it.ID,
				it.Table[p/m.blockSize])
		}
	}
	return nil
}

// claim proves that the blocks which the item writes are written by no other item of the step.
func (m *memory) claim(it *core.Item, step uint64) error {
	end := it.Start + len(it.Tokens) + it.Draft
	if want := (end + m.blockSize - 1) / m.blockSize; len(it.Table) != want {
		return fmt.Errorf("%d has %d blocks for %d positions", it.ID, len(it.Table), end)
	}
	from := it.Start / m.blockSize
	if it.Restore {
		from = 0
	}
	for _, id := range it.Table[from:] {
		if m.written[id] == step {
			return fmt.Errorf("block %d is written twice in step %d, the second time for %d", id, step, it.ID)
		}
		m.written[id] = step
	}
	for _, id := range it.Table[:from] {
		if m.written[id] == step {
			return fmt.Errorf("block %d is written in step %d and read by %d", id, step, it.ID)
		}
	}
	return nil
}
