// Package shadow compares answers and judges them: what second opinions come to.
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
package shadow
