// Package front makes the HTTP servers of the two listeners: which implementation speaks HTTP to clients, within which
// bounds, and how a request is refused that no handler is to see.
//
//	clients ───▶ Data ─┬ Octet    internal/http1/server: a stream can wait without a goroutine
//	                   └ NetHTTP  net/http, behind a listener with the same bounds; so is TLS
//	operators ─▶ Admin            net/http likewise, for fewer connections
//
//	TLS: accept ─▶ seat ─▶ handshake, on a goroutine ─┬ HTTP/1.1 ─▶ server.Strict ─▶ net/http
//	                                                  └ HTTP/2 ────────────────────▶ net/http
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
