package scheduler

import "octet/kvpool"

// tables keeps tables that were emptied, with their memory, for the next tickets.
type tables []*kvpool.Table

const (
	mostTables  = 32   // kept
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
		*s = append(*s, t)
	}
}
