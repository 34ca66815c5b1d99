// Package lessons makes labelled texts out of calibration records.
//
//	records ─▶ evidence by receipt ─▶ a specialist ─▶ its label ─▶ one Lesson a text ─▶ groups ─▶ learnt, held out
//	           verdicts, duels        wrong,           unmapped,   repeated,
//	                                  undecided,       ambiguous   contradictory
//	                                  contradictory
//
// Invariants:
//
//  1. A text is labelled with the specialist whose answer passed all its verdicts, or was the better one of two that
//     differed. Agreement says nothing of which specialist a text is for, and a failed verdict nothing of which other.
//  2. What speaks for two labels, on one receipt or on two receipts of one text, is left out. Every receipt is in
//     exactly one count.
//  3. The text of a Lesson is what the gateway's classifier saw of the request, not the whole prompt.
//  4. Texts that share a passage, or begin one conversation, are of one group, and a group is on one side of the split.
//  5. The order of records changes nothing. No error has a text in it.
package lessons
