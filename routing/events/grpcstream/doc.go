// Package grpcstream takes cache events from engines that publish to the gateway directly: one gRPC stream a replica,
// service Events of octetkv.proto.
//
//	engine ── Publisher ══ Publish(stream Batch) ══▶ Consumer ─ session a stream ─▶ Sink
//	                 ◀═ Ack after each ═══════════════ ┘
//
// Invariants:
//
//  1. A stream speaks for the replica that its first batch names, and for no other. With tokens configured, a stream's
//     token says which replicas that may be.
//  2. Batches are decoded by package events and within its limits, before anything else looks at them.
//  3. Nothing is kept here: an engine's batch is acknowledged when the sink has it. What is lost with a connection is
//     sent again.
package grpcstream
