// Package client is an HTTP/1.1 client that holds next to nothing for an open answer.
//
//	Do ──▶ idle connection? ──peek──▶ head+body, one write ──▶ head ──▶ frame ──▶ pieces of the body
//	         pool.go    │ none, dead    request.go, conn.go    head.go   frame.go   response.go
//	                    └──▶ dial                                 Close: whole body? back to the pool : closed
//
// It exists because net/http's costs two goroutines for each open answer and ten times as many allocations
// (BenchmarkExchange runs both). Against net/http it is stricter, never laxer: what it accepts, net/http accepts with
// the same status and body. What it refuses beyond net/http is listed in differential_test.go.
//
// Invariants:
//
//  1. ErrConnect is returned only when no byte of the request was handed to a connection.
//  2. A request is sent at most twice, and the second time only when the first connection was a reused one that ended
//     before any byte of an answer; then on a new connection.
//  3. A connection goes back to the pool only after a whole, well framed answer that does not forbid it, with nothing
//     received beyond that answer, and with its context still alive.
//  4. io.EOF follows a proper end alone: a body cut short is ErrReset, a broken frame ErrProtocol.
//  5. An open answer holds one connection and no goroutine, and no buffer while its reader waits in Feed or Carry.
//     Reading allocates nothing. All connections of a Client on which a Feed has waited are watched for their end by
//     one goroutine, which ends with the last of them.
//  6. Nothing in a Request can add a line to it.
package client
