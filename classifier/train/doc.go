// Package train makes and measures classifier models: `octet train` and `octet evaluate`.
//
//	labelled texts ─▶ vectors ─▶ features seen in two sources at least ─▶ logistic regressions ─▶ mean ─▶ int8
//	                                                                                artefact ◀─ calibration ◀──┘
//
// Invariants:
//
//  1. The same data, concepts, examples and seed give the same artefact, bit by bit, on one architecture. One goroutine
//     adds up, in a fixed order.
//  2. What a source alone says is not learnt: a feature that one source has is left out, and a source's weight grows
//     slower than its number of texts.
//  3. What calibrates a model, and what is reported of it, was never said by one that had seen the text: it is dev,
//     which is then not trained on, or a cross-validation in which families of sources are left out in turn.
package train
