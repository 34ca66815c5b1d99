// Package index is the contract of a block index: which replica holds which block of KV cache, asked for a whole prompt
// at once. How many leading blocks of it does each replica hold?
//
//	Batch (host, epoch, seq) ──▶ Writer ─┐               ┌─ Reader ◀── chain of block hashes
//	                                     ▼               ▼               ──▶ depth per replica
//	                          runs.Indexer, which serves, or reference.ShardedBlockIndexer
//
// Package runs is the index that serves by default; package reference is the plain one, the oracle of the tests, which
// can be chosen (events.index). One model holds both to this contract.
//
// Invariants:
//
//  1. The index answers that a living replica holds a block exactly while it has a copy in some tier.
//  2. With no change under way, Depths equals a block-by-block scan, holes or not.
//  3. What a replica holds is a function of the batches applied: replaying any of them changes nothing.
//  4. A retired replica is in no answer to a query that begins after Retire, and its slot goes to no other replica
//     before it is swept. A batch that names a Generation does nothing to a later one.
//  5. The index is a hint. Nothing here blocks a request on an event, and nothing promises that a replica still holds a
//     block.
//
// Chains that break the claim that hashes are cumulative get depths that break with it.
//
// A HostBitmap holds 256 replicas; `go build -tags hosts512` makes it 512. The cap bounds one cell: grow by more cells.
package index
