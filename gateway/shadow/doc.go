// Package shadow sends copies of requests to second specialists, compares the answers and judges them.
//
//	Request ─▶ copy ─▶ plan ─▶ place ─▶ upstream ─▶ stream ─▶ its answer      (the pieces of the line, see Shadow)
//
//	answer of the specialist ─┐
//	                          ├─▶ Comparer ──▶ Records ──▶ calibration stream
//	answer to a copy ─────────┘                   ▲
//	answer ──▶ Audit (verifier) ──▶ Verdicts ─────┘
//	POST /v1/outcomes ─────────────▶   │
//	                                   └──▶ correctness windows (slo.Board), probation
//
// 1. All verdicts on one answer are one sample: it passes when all of them pass.
// 2. A verdict of a kind counts once for a receipt. A verdict on a request without an answer does not count.
// 3. Nothing here is waited for by a request.
// 4. A shadow gives its place to any request that wants it, never queues for one, and leaves no trace in what plugins
// learn.
// 5. What an answer to a copy calls goes nowhere. A request has no shadow if an engine could run one of its tools.
// 6. An answer that calls tools is a step on the way to one: no verifier is offered it, and a judge reads its calls.
// 7. A replica whose engine answers only after it has met one that computes the prompt is asked together with that one.
package shadow
