// Package http1 is the roof over our own HTTP/1.1: a server, a client, and what both stand on. Its rooms import nothing
// of Octet's but each other and internal/poison, which overwrites memory before it is used again in builds that look
// for faults. What a caller has to say is passed in: handlers, limits, errors in the caller's words, reports of panics.
//
//	server/    one goroutine a connection, no memory for one that is silent
//	client/    a pool of connections to one server, no goroutine and no buffer for an answer that waits
//	poll/      many descriptors waited for by one goroutine: streams to be read, peers that hang up
//	sock/      system calls of which Go's scheduler is not told
//	lifetime/  a cheap context: one a connection, one a turn of a request
//	field/     what may stand in the lines of a head, and heads that are like the one before
//	guard/     a panic ends what it struck, and nothing more
//
// A stream that is passed on from a server to a client has two connections, and each has one owner at a time:
//
//	            connection of server/                          connection of client/
//	            (where the answer goes)                        (from which the answer comes)
//
//	accept ──▶ its goroutine: await, head                      pool (nothing owns it; a timer may close it)
//	               │ ServeHTTP                                     │ Do
//	               ▼                                               ▼
//	           the handler, on that goroutine ◀── same ──▶     the caller of Do and Feed
//	               │ Detach, and the handler returns               │ Feed goes on
//	               ▼                                               ▼
//	           a new goroutine, with a small stack ◀── same ─▶ that goroutine
//	               │ it returns false: parked                      │ Carry
//	               ▼                                               ▼
//	           the poll loop, by TrySend ◀───── same ─────▶    the poll loop, by Stream.Ready
//	               │ Resume                                        │ end
//	               ▼                                               ▼
//	           a new goroutine ◀────────────── same ──────▶    that goroutine: Feed again, or Close
//	               │ it returns true: over                         │ Close
//	               ▼                                               ▼
//	           its goroutine: await the next head              pool, or closed
//
// Beside the owner, these may touch a connection at any time, and only so: the Watch sets a flag and wakes the owner by
// a deadline in the past; the end of a context does the same; Shutdown and Close wake or cut it.
package http1
