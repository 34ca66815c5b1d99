// Package model is the trained classifier: a distribution over labels for a text, from one artefact.
//
//	text ─▶ head and tail, 12 KiB at most ─▶ one pass ┬▶ words, parts of words, pairs of neighbours: hashed, weighed┐
//	                                                  └▶ concepts: how many of a group's terms and literals were seen┤
//	                                                          probabilities ◀─ temperature ◀─ sum of weights ◀─────┘
//	sections that are courtesy (greetings, thanks, signatures) are left out between the pass and the sum
//
// Invariants:
//
//  1. The cost of a text is bounded whatever it holds, and the pass allocates nothing.
//  2. An artefact holds all that a verdict depends on: labels, concepts, weights, courtesy, temperatures and doubts.
//     The same artefact gives the same bits for the same text.
//  3. A byte that is wrong in an artefact is an error of Read, never a panic and never another verdict.
//  4. What was not seen in training weighs nothing: a feature is known by its 32-bit key, not by the row that it falls
//     on.
package model
