// Package kvpool keeps the blocks of a paged KV cache: how many there are, who holds them, and which content they hold.
//
//	   a sequence                      the pool: one array, fixed for life
//	┌─────────────┐  Table    ┌──────────────────────────────────────────────┐
//	│ tokens 0…15 │ ─ 7 ────▶ │ block 7   hash h0                ─┐  run of 2│
//	│ tokens 16…31│ ─ 2 ────▶ │ block 2   hash h1 = H(h0, tokens) ┘  refs 2  │ ◀── prefix map: hash → block
//	│ tokens 32…37│ ─ 9 ────▶ │ block 9   private (not full: no hash)        │
//	└─────────────┘           │ block 4   hash h5                    refs 0  │ ◀── idle runs
//	                          │ block 5   free, no content                   │ ◀── empty blocks
//	                          └──────────────────────────────────────────────┘
//	taken:  empty blocks, last freed first ▶ idle runs, least recently used first, each from its end ▶ tail
//
// Content is evicted only when no empty block is left, the least recently used first, and of one sequence the tail
// before its parents, because a prefix without its beginning is worth nothing.
//
// Blocks of one chain that the same tables list are a run, with one count of references. What shares, releases or asks
// for a prefix touches runs only, and a table writes its blocks down when somebody asks for them: hashes are
// cumulative, so that one that is equal says that all before it are. A run is cut where somebody shares, or keeps, a
// part of it.
//
// Invariants, all proven by [Pool.Check] and [Pool.CheckTables]:
//
//  1. Free + Used == Total, and Total never changes.
//  2. A block is empty or in an idle run exactly when nobody references it.
//  3. A run's reference count is the number of tables that list it, each of them whole; a private block is listed by
//     one table.
//  4. The prefix map and the blocks agree: each hash names one block, which carries that hash.
//  5. Each block with content is in one run, at the place that it knows.
//  6. The idle runs are linked in the order of their release, and no run is lost.
//
// A Pool belongs to one specialist and to one goroutine or lock: it locks nothing itself. Taking and releasing blocks
// does not allocate once a table has its capacity, but for runs where there are more than ever before.
package kvpool
