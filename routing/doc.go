// Package routing decides which replica takes a request.
//
//	          Facts, candidates, given slots
//	                      │
//	┌─────────────────────▼──────────────────────────────────────────────┐
//	│ Profile (a Selector)                                               │
//	│   Prepare ──▶ Filter ──▶ Score ──▶ Pick ──▶ Decision (best first)  │
//	│      │ slots     │ clears    │ weighted sum   │                    │
//	└──────┼───────────┼───────────┼────────────────┼────────────────────┘
//	       └───────────┴─ Context ─┴────────────────┘
//	                      │
//	 Workflow: 1…n Selectors over one Context ──▶ Plan ──▶ SequentialExecutor ──▶ Dispatcher
//
// A Flow is a Workflow of several legs, such as prefill and decode. What they have in common is prepared once; legs
// that no slot ties select side by side, others in their order, so that a later one can read which replica an earlier
// one picked.
//
// Plugins do not know each other. What one writes and another reads goes through a Slot: a typed place in the request's
// Context. Build checks a whole profile before the first request: every slot that is read has exactly one writer,
// earlier in the profile.
//
// Invariants:
//
//  1. A decision goes Prepare, Filter, Score, Pick, in that order, and no stage is entered twice.
//  2. A Preparer runs at most once per Context, whatever number of Selectors share it; once more after the pick of a
//     leg that it reads, however indirectly.
//  3. A Filter only removes: what it adds is taken out again.
//  4. A score that enters a sum is in [0,1]; others are clamped and counted.
//  5. Sums are taken in profile order and replicas stand in ascending order, so equal inputs give equal decisions.
//  6. A plugin touches no slot that it did not declare; one that panics fails its own request only.
//  7. A single candidate left pays for no scoring, and a single candidate to begin with for no preparation either, save
//     what filters, the picker and the caller read.
//  8. Legs run at the same time only where none writes a slot that another reads or writes.
//  9. Everything reached from a Context is valid until its Release, and no longer.
package routing
