// Package natsstream carries cache events over a NATS JetStream stream, one subject a replica.
//
//	engine ─ Publisher ─ octet.kv.<replica> ─▶ [ stream OCTET_KV, oldest dropped first ]
//	                                                     └─ ordered consumer ─▶ Consumer ─ Sink
//
// Invariants:
//
//  1. Every gateway has an ordered consumer of its own, which the server forgets when it leaves; a new gateway begins
//     at the stream's start and catches up.
//  2. The first client creates the stream; one that exists is used as it is.
//  3. A position in a stream counts for that stream alone: when another one of its name is found in its place, it is
//     read from its start. Messages that come twice are the sink's to drop, by their numbers.
//  4. Whatever the server does, Consume goes on: it pauses, longer each time and never equally long, and tries again.
//     A message that is too long to be read is passed over by its size.
//  5. A batch counts only on its replica's own subject, so that the server's permissions decide which publisher may
//     speak for it. Where there is a secret, it counts only under its replica's seal as well.
package natsstream
