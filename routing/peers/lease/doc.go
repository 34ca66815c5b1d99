// Package lease is what the links of package peers have in common: it keeps a gateway's name in a store, and hands over
// what its connection hears.
//
//	connection ─ Push ─▶ [ inbox, oldest dropped first ] ─┐
//	     │                                                ├─▶ deliver ─▶ peers.Events
//	     └─ up(Store) ─▶ renew ─── Away ──────────────────┘
//	                       └ Look, Swap, Drop ─▶ the name in the store
//
// Invariants:
//
//  1. The name changes by compare-and-swap alone, and each renewal writes a value that was never there before. So a
//     claim that was lost is never renewed over its new holder.
//  2. Only durations are compared, of one gateway's own clock. A holder is dead where its value was not renewed for a
//     lease, its own or ours, whichever is longer, while the store answered all the time.
//  3. A gateway believes in its claim for one lease after the beginning of its last renewal, and no longer. Without a
//     claim it neither sends nor hears.
//  4. The inbox holds at most maxInbox messages and inboxBytes bytes. A slow receiver loses the oldest.
package lease
