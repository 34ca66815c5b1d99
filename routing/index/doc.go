// Package index knows which replica holds which block of KV cache, and answers for a whole prompt at once: how many
// leading blocks of it does each replica hold?
//
//	Batch (host, epoch, seq)                                   chain of block hashes
//	   │ one writer at a time                                      │ any number of readers, no lock
//	   ▼                                                           ▼
//	full table                     run: 128 bytes            head table
//	block → run, offset  ───────▶  length, first, last  ◀──  first block → run
//	                               who holds all of it             │ depth per replica
//	                               who holds its first n           ▼ ∩ alive, ∩ asked
//	                               │        │                      next run: where this one ends in the chain
//	                               ▼        ▼
//	                          its hashes   isles: what is held behind a hole; no query reads them
//
// Hashes are cumulative: a block's hash covers everything before it, so each block has one parent, and where two chains
// have an equal hash all before it is equal. So the table is the tree, without pointers, and a run (a stretch of
// consecutive blocks that were stored in one go) whose last hash is the prompt's is matched whole, unread. A run is cut
// where chains part and where nobody holds a block any more; it grows at its end. A query costs two far loads a run,
// whatever the prompt's length and the number of replicas, and a hole costs nothing until a run's header has no place
// left for who stops at which.
//
// [ShardedBlockIndexer] is the reference: 256 maps from block to HostBitmap, each under its own lock, and depths by
// halving where a replica's blocks are closed under "what comes before", by scanning where they are not. It is slower
// by an order, reads like its description, and keeps the same contract; the tests hold both to one model.
//
// Invariants; Check proves 1 to 3 of either index, the property tests the others:
//
//  1. The index says that a living replica holds a block exactly while it has a copy in some tier.
//  2. Each block is in one run, the tables know where, and the head table knows the first of each.
//  3. No block is without a holder, and the last living holder's departure takes it along.
//  4. With nothing else going on, Depths equals a block-by-block scan, holes or not. The depth of a replica that no
//     change touches during a query is exact whatever changes beside it. That of one that a batch does touch may show
//     it in part. An eviction touches whoever holds what it evicts.
//  5. What a replica holds is a function of the batches applied: replaying any of them changes nothing.
//  6. A retired replica is in no answer to a query that begins after Retire, and nobody gets its slot before it is
//     swept. A batch that names a Generation does nothing to a later one.
//  7. The index is a hint. Nothing here blocks a request on an event, and nothing promises that a replica still holds a
//     block.
//  8. Want of memory makes the index know less than replicas hold, never more: what is evicted is as if nobody had
//     stored it. A later removal of it changes nothing, and what follows it in a chain counts for nobody until it is
//     stored again.
//
// Chains that break the claim that hashes are cumulative get depths that break with it.
//
// Eviction (evict.go) is a clock over whole runs, and begins when the memory is all taken. Each run has a use of 0 to
// 2: a query raises it to 1 where its chain ends or parts, to 2 where its chain goes on; a store raises it to 1 for a
// run that the replica is new to, to 2 for one that a new run follows. So beginnings outlive what follows them, and
// queries write to a run once for each round of the hand. The hand goes round the runs in the order of their ids; one
// of use 0 goes, whoever holds it, and the others lose one. After 512 ids without a victim the next run goes all the
// same, which bounds the writer's work. Who comes takes the id of who went, behind the hand: what is new and not asked
// for lasts one round. Nothing else decides: the same events and queries evict the same. An op that has sent the hand
// round once evicts no more and the rest of it is refused, so that no chain evicts its own beginning. Tier maps have a
// sixteenth of the memory to themselves; where they need more, runs of replicas with such maps go. Where headers are
// short and an eighth of all arrays lies idle, a chunk of arrays is emptied and given back (vacate.go).
//
// How readers do without a lock: a header is written under a sequence number that is odd meanwhile; who sees it odd or
// changed looks again, and waits for the writer after 64 times. Headers, hashes and tables lie in memory that is mapped
// beside the heap in huge pages, never moves and stays readable until the index itself goes, so a reader of what was
// taken away reads nonsense that it then throws away. Under the race detector readers take the lock; tests run both
// ways.
//
// A HostBitmap holds 256 replicas; `go build -tags hosts512` makes it 512. The cap bounds one cell: grow by more cells.
package index
