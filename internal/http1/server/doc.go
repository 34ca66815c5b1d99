// Package server serves HTTP/1.1 to clients: one goroutine a connection, and nothing held for one that is silent.
//
//	accept ──▶ await ──▶ head ──▶ Handler ──▶ answer ──▶ await …
//	server.go  conn.go   head.go  body.go     answer.go
//	               ▲ buffer from a pool only once there is something to read      watch: hang-ups, one epoll for all
//
// It takes the place of net/http's server because that one costs two goroutines, 8 KiB of buffers, a context and some
// forty allocations for each open request (BenchmarkFront runs both). Against net/http it is stricter, never laxer:
// what it accepts, net/http accepts as the same requests with the same bodies. What it refuses beyond that is listed in
// refuse.go, and each reason is held to an oracle of its own by the differential tests. It speaks no TLS, no HTTP/2, no
// upgrades, and passes no trailers on; a request's context has no values of net/http's.
//
// Invariants:
//
//  1. One goroutine a connection serves it from its first byte to its last; no other is started for it, but to take its
//     place: an answer that goes on after its handler, see Detach, does so on a stack that the handler has not made
//     deep. A parked answer has no goroutine.
//  2. A connection that waits for its next request, or for its handler, holds no buffer.
//  3. Answers go out in the order of the requests, and a connection whose request body was not read to its end is not
//     used again.
//  4. The *http.Request, its URL and the header maps belong to the connection and are used again for its next request:
//     a handler keeps none of them, and changes neither the header's fields nor their values: the next request's may
//     stand where they did. The strings in them are its to keep.
//  5. A request's context is its connection's. It ends when the client closes its side, when the connection ends and
//     when BaseContext does; not when the handler returns. It is not ended while some of the request's body is still to
//     come: its reader learns it from the error.
//  6. Deadlines are lazy: one that is armed for an earlier time is left alone and, when it strikes, set anew. A request
//     costs no timer.
//  7. An answer that was not finished never looks finished: no last chunk, a short Content-Length, or a reset where
//     only the close marks the end.
package server
