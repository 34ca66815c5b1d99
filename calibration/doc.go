// Package calibration is what second opinions are good for: it compares two answers to one request, defines the records
// that come of it, and reads them back to say what they are evidence of.
//
//	primary's answer ─┐                                        ┌─▶ reliability, expected calibration error
//	                  ├─▶ Compare ─▶ Example ═ stream ═▶ Study ─┼─▶ thresholds: cost, caught, recommended
//	shadow's answer  ─┘              Tally, Verdict             └─▶ promotions: which was better, how surely
//
// Invariants:
//
//  1. Comparing texts costs a bounded time: at most maxTokens tokens of each are compared, whatever its length. JSON
//     and the arguments of tool calls are compared whole, in a time that grows with their length.
//  2. Compare is directional: swapping the answers swaps the sides of its class and changes nothing else.
//  3. Nothing here changes a threshold, a weight or a configuration. A Report is for people and their tools.
//  4. What is learned of answers of one form (text, tool calls, JSON) is learned of that form alone.
//  5. The same records give the same Report, to the bit: resampling is seeded.
//
// The room is pure: no clock, no logger, no global randomness, nothing of Octet is imported.
package calibration
