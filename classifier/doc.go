// Package classifier decides which specialist of the ensemble answers a request: once, before anything else is decided.
//
//	request ─▶ declared model ─▶ declared intent ─▶ detectors ─▶ trained model ─▶ reject class
//	               │                  │                 │              │               │
//	            X-Routed-By:        intent          detector      classifier      fallback,
//	             model                                                           or refused
//
//	detectors:  the operator's rules, then: text ─▶ scanner, one pass ─▶ sheet of cues ─▶ weights ─▶ the first to fire
//
//	trained model:  a classifier out of process, where there is one ─▶ the artefact's, where that gave no distribution
//
// Invariants:
//
//  1. Precedence is fixed. The first rule that can say decides; none after it is asked, and none before is
//     reconsidered.
//  2. A declared model, or an intent that leads to a specialist, costs no look at the text.
//  3. The scanner passes each byte once and looks ahead a bounded number of times: its cost is linear in the text
//     whatever it holds, at most 32 KiB are read of a request, and it allocates nothing.
//  4. A detector's target is a name: it applies only where the ensemble has that specialist. Its confidence is its
//     measured precision, not a feeling.
//  5. Rejected (no specialist fits) and undecided (no model, or a broken one) are told apart: the latter sets
//     Verdict.Degraded, and only then do the weaker hints speak.
//  6. Nothing is learnt: the same input gives the same verdict for as long as the Cascade lives. There is no state.
//     A classifier out of process answers for itself; Verdict.Classifier says whose distribution it is.
package classifier
