// Package approx remembers where prompts were sent, and takes it for what the replicas hold. It is the index of engines
// that publish no events, and the forecast for those that do: a prompt counts from the moment it is routed until the
// engine's own events tell.
//
//	route ─▶ Routed(host, chain) ─▶ ┌ host: runs of blocks ▶ expiry ┐ ─▶ Depths, Extend: leading blocks per replica
//	events ─▶ Heard(batch) ───────▶ └ at most Blocks, TTL long      ┘
//
// What holds:
//
//  1. A block counts for a host from Routed until TTL later, until it is among the least recently routed beyond the
//     host's bound, or until Heard tells the truth about it, whichever is first.
//  2. A chain is routed from its start and dropped from its end. So until the first Heard of a host, a block proves all
//     blocks before it, and depths are found run by run. After that the host's blocks are held, and walked, one by one
//     until none is left.
//  3. Nothing here is evidence. What Depths returns is a guess, and is shown as one.
package approx
