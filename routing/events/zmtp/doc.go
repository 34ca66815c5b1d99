// Package zmtp speaks the part of ZMTP that engines publish their cache events with: protocol 3.0, as peers of 3.1
// understand it, the NULL mechanism, over TCP and Unix sockets. It knows connections and messages; what a socket type
// does with them is the caller's.
//
//	greeting ◀▶ greeting, READY ◀▶ READY, then message = frame … frame
//	frame = a flag byte, a length and that many bytes
//
// Invariants:
//
//  1. Nothing that a peer says makes a Conn hold more than its Limits, and memory is taken as bytes arrive, not as they
//     are announced.
//  2. A message is delivered whole or not at all. After an error a Conn is of no use any more.
//  3. One goroutine may receive while others send; sends of several goroutines do not mix.
package zmtp
