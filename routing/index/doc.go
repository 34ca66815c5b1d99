// Package index knows which replica holds which block of KV cache, and answers for a whole prompt at once: how many leading
// blocks of it does each replica hold?
//
//	Batch (host, epoch, seq)                                       chain of block hashes
//	   │ one writer per host                                            │ any number of readers
//	   ▼                                                                ▼
//	┌─ host: tier map ────────────┐  bits that   ┌─ 256 shards ──────────────────┐
//	│ block → tiers, parent       │ ──change───▶ │ block → HostBitmap            │ ──▶ depth per replica
//	│ (block, tier) → extent      │  grouped by  │ shard = top 8 bits of hash·φ  │      ∩ alive, ∩ asked
//	└──────────────┬──────────────┘    shard     └───────────────────────────────┘
//	               ▼ winner only                   suspects: replicas to scan, not to halve
//	             Hint                              alive:    replicas that exist
//
// Finding a depth by halving relies on "who holds block 5 holds blocks 0 to 4". That is true of computing a cache, not of still
// holding it: events get lost, copies are evicted one by one, tiers are partial. So each replica's tier map counts the blocks
// that are held without the block before them. While that count is 0 the replica is halved; while it is not, it is a suspect
// and scanned. The answer equals a block-by-block scan either way; a hole costs lookups, never truth.
//
// Invariants; [ShardedBlockIndexer.Check] proves 1 to 3, the property tests the others:
//
//  1. A living replica's bit stands on a block exactly while its tier map has a copy of it in some tier.
//  2. A replica is a suspect exactly while it holds a block that is not known to begin a chain and whose parent it does not
//     hold, or whose parent is not known.
//  3. No entry is without a holder, and the last living holder's departure takes the entry along.
//  4. With nothing else going on, Depths equals a block-by-block scan. Changes under way may show in part.
//  5. What a replica holds is a function of the batches applied: replaying any of them changes nothing.
//  6. A retired replica is in no answer to a query that begins after Retire, and nobody gets its slot before it is swept.
//  7. The index is a hint. Nothing here blocks a request on an event, and nothing promises that a replica still holds a block.
//
// Hashes are cumulative: a block's hash covers everything before it, so each block has one parent and equal hashes mean equal
// prefixes. Chains that break this get depths that break with it.
//
// A HostBitmap holds 256 replicas; `go build -tags hosts512` makes it 512. The cap bounds one cell: grow by more cells.
package index
