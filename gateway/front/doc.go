// Package front makes the HTTP servers of the two listeners: which implementation speaks HTTP to clients, within which
// bounds, and how a request is refused that no handler is to see.
//
//	clients ───▶ Data ─┬ Octet    internal/http1/server: a stream can wait without a goroutine
//	                   └ NetHTTP  net/http, behind a listener with the same bounds
//	operators ─▶ Admin            net/http, no bounds on connections
//
//	each of them ─▶ Certain ─▶ handler
//
// Invariants:
//
//  1. Both kinds of data server refuse the same requests with the same typed errors (refuse.go), and bound heads and
//     connections alike.
//  2. Connections of clients leave as many descriptors for connections to engines, and a reserve beside
//     (descriptors.go): engines are reached and operators are answered however many connections clients open.
//  3. A target that two readers can take for different paths reaches no handler (target.go).
package front
