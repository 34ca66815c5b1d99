// Package runs is the block index that serves: blocks that were stored together are kept together, as runs, so that a
// query costs a few loads whatever the prompt's length and the number of replicas.
//
//	Batch (host, epoch, seq)                                   chain of block hashes
//	   │ one writer at a time                                      │ any number of readers, no lock
//	   ▼                                                           ▼
//	table of blocks                header: 128 bytes           table of heads
//	block → run, offset  ───────▶  length, first, last  ◀──  first block → run
//	                               full: holders of all            │ depth per replica
//	                               prefixes: holders of the first  ▼ ∩ alive, ∩ asked
//	                               │        │                      next run: where this one ends in the chain
//	                               ▼        ▼
//	                          its hashes   fragments: what is held behind a hole; no query reads them
//
// Hashes are cumulative: a block's hash covers everything before it. So each block has one parent, and where two chains
// have an equal hash all before it is equal. The table is the radix tree, without pointers, and a run whose last hash
// is the prompt's is matched whole, unread. A run is cut where chains part and where a block loses its last holder; it
// grows at its end. A query costs two far loads a run. A hole costs nothing until a header has no place left for the
// replicas that stop at it.
//
// # Files
//
//	tree.go, store.go, change.go   what a Store or a Remove does to runs
//	evict.go, compact.go           eviction, and giving memory back
//	storage.go, header.go          runs and the tables that find them; hashtable*.go, arena.go, slab.go, pages_*.go
//	holders*.go                    which replicas hold what of one run, as a value
//	query.go                       what readers do; seqlock_*.go, locked_*.go
//	index.go, apply.go, tiers.go   the Indexer: order, tiers, slots
//
// # Invariants
//
// Check proves 1 to 3, the property tests the others. Those of package index hold, too.
//
//  1. Each block is in one run, the table of blocks has its place, and the table of heads has the first of each run.
//  2. No block is without a holder; the last living holder's departure removes it.
//  3. What is counted as it goes (runs, blocks, blocks of each host) is what counting again gives.
//  4. With no change under way, Depths equals a block-by-block scan, holes or not. The depth of a replica that no
//     change touches during a query is exact whatever changes beside it. That of one that a batch does touch may show
//     the batch in part. An eviction touches all holders of what it evicts.
//  5. When memory is short the index knows less than replicas hold, never more: what is evicted is as if it had not
//     been stored. A later removal of it changes nothing, and what follows it in a chain does not count until it is
//     stored again.
//
// # Eviction
//
// A clock over whole runs, which begins when the memory is all taken. Each run has a use of 0 to 2. A query raises it
// to 1 where its chain ends or parts, to 2 where its chain goes on. A store raises it to 1 for a run that the replica
// is new to, to 2 for one that a new run follows. So beginnings outlive what follows them, and queries write to a run
// once for each round of the hand. The hand goes round the runs in the order of their ids. A run of use 0 is evicted,
// the others lose one. After scanLimit ids without a victim the next run is evicted all the same, which bounds the
// writer's work. A new run takes the id that was freed last, behind the hand: if it is not asked for it lasts one
// round. Nothing else decides: the same events and queries evict the same. An op that has sent the hand round once
// evicts no more, and the rest of it is refused, so that no chain evicts its own beginning. Tier maps have a sixteenth
// of the memory to themselves; if they need more, runs of replicas with such maps are evicted. If headers are short and
// an eighth of all arrays is unused, a chunk of arrays is emptied and given back (compact.go).
//
// # Readers without a lock
//
// A header is written under a sequence number that is odd meanwhile (a seqlock). A reader that sees it odd or changed
// looks again, and waits for the writer after maxTorn times. Headers, hashes and tables lie in memory that is mapped
// beside the heap in huge pages, never moves and stays readable until the index itself is collected. So a reader of
// freed memory reads nonsense, finds that out and discards it. Under the race detector readers take the lock; tests run
// both ways.
package runs
