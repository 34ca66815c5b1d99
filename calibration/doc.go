// Package calibration is what second opinions are good for: it compares two answers to one request, defines the records
// that come of it, and reads them back to say what they are evidence of.
//
//	primary's answer ─┐                                        ┌─▶ reliability, expected calibration error
//	                  ├─▶ Compare ─▶ Example ═ stream ═▶ Study ─┼─▶ thresholds: cost, caught, recommended
//	shadow's answer  ─┘              Tally, Verdict             └─▶ promotions: which was better, how surely
//
// Invariants:
//
//  1. Comparing costs a bounded time: at most maxTokens tokens of each answer are compared, whatever its length.
//  2. Compare is directional: swapping the answers swaps the sides of its class and changes nothing else.
//  3. Nothing here changes a threshold, a weight or a configuration. A Report is for people and their tools.
//  4. The same records give the same Report, to the bit: resampling is seeded.
//
// The room is pure: no clock, no logger, no global randomness, nothing of Octet is imported.
package calibration
