// Package kvpool keeps the blocks of a paged KV cache: how many there are, which tables list them, and which content
// they hold.
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
// # Runs
//
// Blocks of one chain that the same tables list are a run, with one count of references. Sharing, releasing or asking
// for a prefix touches runs only: one step a run, where a list of blocks would take one a block.
//
//   - Hashes are cumulative: where one is equal, all before it are. So a run whose last hash is the chain's is matched
//     whole (matchRun).
//   - A run is cut when a table shares, or keeps, a part of it (isolate, split). A table that listed the whole run
//     finds what was cut off its end by tailOf.
//   - A table defers its leading blocks: it keeps the runs, and lists the blocks when something asks for them
//     (materialize). Most tables are released before that.
//
// Invariants, all proven by [Pool.Check] and [Pool.CheckTables]:
//
//  1. Free + Used == Total, and Total never changes.
//  2. A block is empty or in an idle run exactly when no table references it.
//  3. A run's reference count is the number of tables that list it, each of them whole; a private block is listed by
//     one table.
//  4. The prefix map and the blocks agree: each hash names one block, which carries that hash.
//  5. Each block with content is in one run, at the place that it knows.
//  6. The idle runs are linked in the order of their release, and no run is lost.
//
// A Pool belongs to one specialist and to one goroutine or lock: it locks nothing itself. Taking and releasing blocks
// does not allocate once a table has its capacity, but for runs where there are more than ever before.
package kvpool
