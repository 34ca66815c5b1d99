// Package trace makes one trace of a request, once the request is over, out of its receipt and of the times that it
// took down on its way. It knows nothing of OpenTelemetry: gateway/trace/otlp does.
//
//	Tracer.Begin ─▶ Draft ── Classified, Routed, Queued, Ask, … ──▶ Draft.End ─▶ Sink
//	  ids, sampling   one request's, while it runs: times alone       spans
//
//	chat octet ─┬ classify
//	            ├ route
//	            ├ queue    of each turn at a replica, and while no replica serves
//	            ├ engine   of each question to an engine: retries, legs, continuations
//	            └ relay    from the head of the answer to its end
//
// 1. Without a Tracer there is no Draft: a nil Draft does nothing, and nothing is looked at or allocated.
// 2. Whether a request is sampled is decided at its beginning, and engines are told. A request that fails is
// traced even if it was not: its trace is made at the end. X-Explain has a request sampled.
// 3. A Draft belongs to the goroutine of its request. What a Sink takes is the Sink's.
// 4. No text of a prompt or of an answer, no key and no word of an engine is in a span.
package trace
