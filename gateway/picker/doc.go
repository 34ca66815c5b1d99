// Package picker is the gateway as an endpoint picker: a proxy such as Envoy holds the connections to clients and to
// engines, and asks here by its external processing protocol (ext_proc, FULL_DUPLEX_STREAMED both ways) which endpoint
// takes a request, in the words of the Gateway API's InferencePool.
//
//	Envoy ── request head, body ──▶ http.Request ──▶ the line ──▶ courier ── endpoint, body ──▶ Envoy ──▶ engine
//	Envoy ── response head, body ─▶ engine.Response ──▶ the line ──▶ http.ResponseWriter ── head, body ──▶ Envoy
//
//	 1. The line is the one of the data listener: tokens, Gate, ledger, receipt, metrics do not know the difference.
//	 2. A request is carried once. What ends before is one immediate response, and so is an answer that failed before
//	    its head was sent.
//	 3. A proxy that accepts nothing for limits.write_timeout ends the call, and no replica is blamed. Bodies that are
//	    kept for a proxy that fails open are bounded, all together.
//	 4. An answer that stands still blames its replica only while little of it has come: the proxy may hold the engine
//	    back for a client that reads nothing.
//	 5. A stream that breaks after its head ends in an error of the call, upon which the proxy resets its client.
//	 6. It stops behind the calls that have begun, as a request ends before its proxy has the end of the answer.
//	 7. Its health says that it serves once requests can be served, until it drains: with its replicas gone each
//	    request is still told so.
package picker
