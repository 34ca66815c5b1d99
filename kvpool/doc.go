// Package kvpool keeps the blocks of a paged KV cache: how many there are, who holds them, and which content they hold.
//
//	   a sequence                      the pool: one array, fixed for life
//	┌─────────────┐  Table    ┌──────────────────────────────────────────────┐
//	│ tokens 0…15 │ ─ 7 ────▶ │ block 7   refs 2   hash h0   (shared)        │
//	│ tokens 16…31│ ─ 2 ────▶ │ block 2   refs 1   hash h1 = H(h0, tokens)   │ ◀── prefix map: hash → block
//	│ tokens 32…37│ ─ 9 ────▶ │ block 9   refs 1   (not full: no hash)       │
//	└─────────────┘           │ block 4   refs 0   hash h5   ─┐              │
//	                          │ block 5   refs 0   no hash   ─┴ free list    │
//	                          └──────────────────────────────────────────────┘
//	free list:  head ▶ blocks without content, last freed first ▶ blocks with content, least recently used first ▶ tail
//
// A block is taken from the head: content is evicted only when no empty block is left, the least recently used first,
// and of one sequence the tail before its parents, because a prefix without its beginning is worth nothing.
//
// Invariants, all proven by [Pool.Check] and [Pool.CheckTables]:
//
//  1. Free + Used == Total, and Total never changes.
//  2. A block is on the free list exactly when nobody references it.
//  3. A block's reference count is the number of tables that list it.
//  4. The prefix map and the blocks agree: each hash names one block, which carries that hash.
//  5. On the free list no block with content comes before one without.
//
// A Pool belongs to one specialist and to one goroutine or lock: it locks nothing itself. Taking and releasing blocks
// never allocates once a table has its capacity.
package kvpool
