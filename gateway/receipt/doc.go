// Package receipt keeps the record of each decision: where a request went, why, and what came of it.
//
//	Begin ─▶ Draft ── Open, Decide, Route, Attempt, End ──▶ Ring.Put ──▶ Ring.Find ─▶ GET /v1/receipts/{id}
//	         one request's, while it runs                   bytes                     a copy, rendered
//
// 1. A receipt is a plain struct. A new field stands in the struct, and where it is filled; nowhere else: the codec by
// which a Ring keeps it is made from the struct.
// 2. A Draft belongs to the goroutine of its request. Put copies it: nothing is shared with the Ring.
// 3. What Find returns is the caller's: nothing in it changes after it, and writing to its fields changes no other.
// 4. Verdicts come after Put. They are kept beside the receipt, and Find copies those that are there into Outcomes.
package receipt
