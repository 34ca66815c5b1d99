// Package scheduler decides whether and when a request may run on one engine, and what makes room for it. It has three
// rooms, and holds what they share: time, answers, refusals, counts.
//
//	             scheduler: Time, Answer, Refusal, Stats
//	                ▲            ▲            ▲
//	       ┌────────┘            │            └────────┐
//	core: Core, Loop ──▶ queue: Backlog ◀── gate: Gate, Model
//	       │              priority, shares,            │
//	       │              arrival                      │
//	       ▼                                           ▼
//	 step engine:                              engine that batches itself:
//	 computes each Batch                       is asked through a gateway, and modelled
//	 (kvpool.Pool, exact)                      (kvpool.Pool, a model)
//
// There is one scheduler per engine and no shared queue above them: one specialist's overload delays no other's
// admission. Waiting requests are ordered by priority (desc), arrival (asc), id; a preempted one keeps its arrival.
// Tenants share a priority by fair queueing (see queue.Backlog), and each tenant's requests are in that order.
//
// Invariants of both, proven by Check after every step in the tests:
//
//  1. Free + Used + Reserved == Total at every moment. Reserved are the blocks held for tokens not yet computed.
//  2. No request starts unless its prompt, less what is shared, and one step fit at once.
//  3. No request starts before the head of the queue: what does not fit blocks those behind it.
//  4. A running request gives way only to a strictly more urgent one that then fits, or, in a Core, to the growth of
//     one that is at least as urgent. Equal priority never takes a place from equal priority at admission.
//  5. Whatever is accepted fits the pool alone, to its last token.
//
// Packages core (6 to 11) and gate (12 to 14) have further ones.
package scheduler
