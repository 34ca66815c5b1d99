package scheduler

import "octet/kvpool"

// tables keeps the memory of tables that were emptied, for the next tickets.
type tables []kvpool.Table

const (
	mostTables  = 32   // kept
	widestTable = 8192 // blocks; a wider one is not kept
)

// take returns an empty table.
func (s *tables) take() (t kvpool.Table) {
	if n := len(*s); n > 0 {
		t, *s = (*s)[n-1], (*s)[:n-1]
	}
	return t
}

// keep takes over the memory of t, which is empty.
func (s *tables) keep(t *kvpool.Table) {
	if len(*s) < mostTables && t.Room() <= widestTable {
		*s = append(*s, *t)
	}
	*t = kvpool.Table{}
}
