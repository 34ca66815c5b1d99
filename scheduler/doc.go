// Package scheduler decides whether and when a request may run on one engine, and what makes room for it.
//
//	          requests                                       requests
//	             │ Submit            Next ▲ tokens              │ Admit           ▲ ticket · refused(reason, retry-after)
//	┌────────────▼─────────────────────┴──────┐      ┌──────────▼──────────────────┴─────────┐
//	│ Loop: one goroutine owns the Core       │      │ Gate: one lock, a modelled pool       │
//	│  ┌───────────────────────────────────┐  │      │  ┌─────────┐  fits?   ┌───────────┐   │
//	│  │ Core   waiting ──fits?──▶ running │  │      │  │ waiting │ ───────▶ │ tickets   │   │
//	│  │           ▲                  │    │  │      │  └─────────┘          └─────┬─────┘   │
//	│  │           └────preempt───────┘    │  │      │       ▲    cancel and       │         │
//	│  │        kvpool.Pool, exact         │  │      │       └──── resume ─────────┘         │
//	│  └───────────────────────────────────┘  │      │        kvpool.Pool, a model           │
//	└──────┬────────────────────────▲─────────┘      └──────────┬────────────────────────────┘
//	       │ Batch   StepEngine     │ Result                    │  engine that batches itself
//	       └────────────────────────┘                           ▼  (counts come back: FirstToken, Grow, Release)
//
// There is one scheduler per engine and no shared queue above them: one specialist's overload delays no other's
// admission. Who waits is ordered by priority (desc), arrival (asc), id; whoever was preempted keeps its arrival.
// Tenants share a priority by fair queueing (see backlog), and each tenant's requests are in that order.
//
// Invariants of both, proven by Check after every step in the tests:
//
//  1. Free + Used + Reserved == Total at every moment. Reserved are the blocks held for tokens not yet computed.
//  2. Nobody starts unless its prompt, less what is shared, and one step fit at once.
//  3. Nobody starts before the head of the queue: what does not fit blocks those behind it.
//  4. A running request gives way only to a strictly more urgent one that then fits, or, in a Core, to the growth of
//     one that is at least as urgent. Equal priority never takes a place from equal priority at admission.
//  5. Whatever is accepted fits the pool alone, to its last token.
//
// Of a Core:
//
//  6. One batch is out at a time. Assemble reserves, Commit settles, Abort leaves nothing to undo.
//  7. A batch is empty exactly when nothing waits or runs.
//  8. A batch holds one adapter. With n adapters running, each is in one of any n consecutive batches.
//     Where cross-adapter batches are on, all share one.
//  9. Only tokens that were committed are hashed, shared and published; a rejected draft never is. Of a hybrid nothing
//     is.
//  10. Who gives way is the least urgent, and among equals who costs least for a freed block. Nobody does so a fifth
//     time:
//     a request that gave way four times starts only when its whole answer has room, and so always advances. Nobody gives
//     way in the step in which it starts, nor starts in the step in which it gave way, and who takes a place leaves the
//     blocks that are due to those at least as urgent: so nobody gives way for nothing.
//  11. The copies of hybrid sequences in host memory never exceed its budget. Each belongs to a live request, which
//     waits
//     or runs on it, and ends with the commit that has brought it back.
//
// Of a Gate:
//
//  12. While a block is owed none is free and nobody is admitted; blocks that come back pay the oldest debt first.
//  13. Who makes room wakes those whom it admits, and nobody else.
package scheduler
