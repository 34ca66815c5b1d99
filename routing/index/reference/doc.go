// Package reference is the index as it is first thought of, small enough to be read at one sitting: the oracle of the
// run index, and an index to choose where events are few and memory is not scarce (events.index: sharded).
//
//	Batch ─▶ one replica's tier map ──changes, by shard──▶ 256 shards: block → HostBitmap, each under its own lock
//	         block → tiers, parent, children                    ▲
//	                                            chain ──────────┘ binary search: one shard read for each probe
//
// The events of a cache say which block follows which, so the tier map knows whether a replica's
// blocks are closed under "what comes before". Where they are, a later block proves all earlier ones, and depths are
// found by binary search: O(K log N) shard reads for K distinct depths and N blocks, whatever the number of replicas.
// Where they are not, the replica is a suspect, and queries scan its chain from the first block on.
//
// Invariants; Check proves them:
//
//  1. A shard's entry for a block names exactly the replicas that have a copy of it in some tier.
//  2. No entry is without a holder.
//  3. A living replica is marked as a suspect exactly while it holds a block that is not known to have the block before
//     it here. The mark is set before the first block changes and removed after the last.
//
// Memory is bounded by what the replicas hold, and by nothing else: there is no eviction.
package reference
