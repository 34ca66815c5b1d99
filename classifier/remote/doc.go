// Package remote asks a classifier of the operator's own over HTTP.
//
//	text ─▶ excerpt ─▶ breaker ─▶ POST {"text","labels"} ─▶ {"probabilities":{label: p}} ─▶ a probability each
//	                     │                │                        │
//	                 suspended   timeout, unreachable,         malformed
//	                             status, too_large
//
// A Service is the connection pool and the breaker: it outlives configurations that say the same of it. A Classifier is
// a Service with the labels of one ensemble.
//
// Invariants:
//
//  1. Ask returns by the end of its time, and with an error that wraps one classifier.Outage, or with a distribution.
//  2. What is sent is an excerpt of the text that the cascade reads, the labels, and the service's own key: nothing of
//     the client, its tenant or its headers. No proxy is asked, no redirect followed.
//  3. At most 64 KiB of an answer are read. An answer is believed if every label is known, every value is a finite
//     number of at least 0, no label is there twice, and the sum is 1 within a hundredth.
//  4. After five failures in a row the service is not asked for five seconds; then one question tries it. A request
//     that ended before its answer is no failure.
package remote
