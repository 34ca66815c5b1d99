// Package live shows operators the decisions of the gateway while they are made.
//
//	record ─▶ Offer ─┬▶ Watcher: filter ─▶ count ─▶ sample ─▶ lines ─▶ GET /admin/decisions
//	                 └▶ Watcher …
//
// Invariants:
//
//  1. Offer never waits. Without a Watcher it is one atomic load.
//  2. A Watcher is given at most Config.PerSecond lines a second, and as many at once after a pause. Every decision
//     that its Filter lets pass is counted, so that what is not shown is known.
//  3. A line is a copy: it shares no memory with the request.
package live
