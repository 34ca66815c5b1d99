// Package redisstream carries cache events over a Redis stream.
//
//	engine ─ Publisher ─ XADD ─▶ [ stream: entry, entry, … MAXLEN ~ ] ─ XREAD after cursor ─▶ Consumer ─ Sink
//	                                                                  └ XREAD after cursor ─▶ another gateway's
//
// Invariants:
//
//  1. Every gateway reads the whole stream from a cursor of its own; there is no consumer group, so none takes
//     another's entries. A new gateway begins at the stream's start and catches up.
//  2. The cursor only moves forward, except to the start, and only when the stream ends before the cursor: then it is
//     another stream than the one that was read. Entries that come twice are the sink's to drop, by their numbers.
//  3. Whatever the server does, Consume goes on: it pauses, longer each time and never equally long, and tries again.
//  4. Every client of the server can add entries. With a secret, an entry counts only under the seal of the replica
//     that it tells of. Without one, entries name their publisher, and the Feed gives each replica's lease to one:
//     that separates honest publishers, and no more.
package redisstream
