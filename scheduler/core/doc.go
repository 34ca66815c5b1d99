// Package core schedules the requests of one step engine: an engine that computes the batch that it is given, once.
//
//	        Submit                          Next ▲ tokens
//	          │                                  │
//	┌─────────▼──────────────────────────────────┴─────┐
//	│ Loop: one goroutine owns the Core                │
//	│  ┌────────────────────────────────────────────┐  │
//	│  │ Core     waiting ───fits?───▶ running      │  │
//	│  │             ▲                    │         │  │
//	│  │             └──────preempt───────┘         │  │
//	│  │          kvpool.Pool, exact                │  │
//	│  └────────────────────────────────────────────┘  │
//	└─────────┬──────────────────────────────▲─────────┘
//	          │ Batch      StepEngine        │ Result
//	          └──────────────────────────────┘
//
// Loop's whole job is this, with commands taken while the engine computes:
//
//	for {
//		batch := core.Assemble(now())
//		results, err := engine.Step(ctx, batch)
//		outputs := core.Commit(batch, results, now()) // or core.Abort(batch)
//	}
//
// Beside the invariants of package scheduler these hold, proven by Check:
//
//  6. One batch is out at a time. Assemble reserves, Commit settles, Abort leaves nothing to undo.
//  7. A batch is empty exactly when nothing waits or runs.
//  8. A batch holds one adapter. With n adapters running, each is in one of any n consecutive batches. With
//     cross-adapter batches all share one.
//  9. Only tokens that were committed are hashed, shared and published; a rejected draft never is, nor is anything of a
//     hybrid.
//  10. The victim is the least urgent, and among equals the cheapest for a freed block. A request that gave way four
//     times starts only when its whole answer has room, and so never gives way a fifth time. No sequence gives way in
//     the step in which it starts, nor starts in the step in which it gave way. A request that takes a place leaves the
//     blocks that are due to those at least as urgent: so no sequence gives way in vain.
//  11. The copies of hybrid sequences in host memory never exceed its budget. Each belongs to a live request, which
//     waits or runs on it, and ends with the commit that has brought it back.
package core
