// Package gateway is the line of a request, from the client's head to the receipt: line.go shows all of it.
//
//	client ─▶ conn ─▶ intake ─▶ decide ─▶ plan ─▶ dispatch ─▶ stream ─▶ client
//	                    │         │        │         │          └ a Relay; the life of a stream
//	                    │         │        │         └ the replicas in turn, each held by a place.Place
//	                    │         │        └ the specialist's pipeline: which replicas, in which order
//	                    │         └ which specialist: cascade, stickiness, probation, stand-in, floors
//	                    └ a Request, read-only once made
//
// An exchange holds the values of the line, each of a room of its own: Request, Decision, Dispatch, Relay, Draft (of
// the receipt), Shadow. It ends in one of two ways, which are one from there on:
//
//	respond ─▶ finish ─▶ conclude          an answer in one piece, or a refusal
//	Carry ─▶ End ─▶ finish ─▶ conclude     a stream that has begun
//
// Invariants:
//
//  1. A request that is refused on the way, or fails, ends in one typed error: the whole answer, or its last event.
//  2. Whatever its end, the receipt is put away, the Place is closed and the body's memory is given back, once.
//  3. A request keeps the Runtime that it began with.
package gateway
