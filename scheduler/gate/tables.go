package gate

import (
	"octet/internal/poison"
	"octet/kvpool"
)

// tables keeps tables that were emptied, with their memory, for the next leases. A lease has forgotten its table and
// its chain when they are kept: nothing else refers to them.
type tables []*kvpool.Table

const (
	mostTables  = 32   // kept, and chains likewise
	widestTable = 8192 // blocks; a wider one is not kept
)

// take returns an empty table.
func (s *tables) take() *kvpool.Table {
	if t, ok := pop((*[]*kvpool.Table)(s)); ok {
		return t
	}
	return new(kvpool.Table)
}

// keep takes over t, which is empty.
func (s *tables) keep(t *kvpool.Table) {
	if len(*s) < mostTables && t.Room() <= widestTable {
		t.Poison()
		*s = append(*s, t)
	}
}

// chains keeps the memory of chains.
type chains [][]kvpool.BlockHash

// copy returns a copy of chain.
func (s *chains) copy(chain []kvpool.BlockHash) []kvpool.BlockHash {
	if len(chain) == 0 {
		return nil
	}
	var room []kvpool.BlockHash
	if last := len(*s) - 1; last >= 0 {
		room, *s = (*s)[last], (*s)[:last]
	}
	return append(room[:0], chain...)
}

// keep takes over what copy has returned.
func (s *chains) keep(chain []kvpool.BlockHash) {
	if chain != nil && len(*s) < mostTables && cap(chain) <= widestTable {
		poison.Words(chain)
		*s = append(*s, chain)
	}
}

// pop takes the last of list.
func pop[T any](list *[]*T) (*T, bool) {
	n := len(*list)
	if n == 0 {
		return nil, false
	}
	last := (*list)[n-1]
	*list = (*list)[:n-1]
	return last, true
}
