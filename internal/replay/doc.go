// Package replay runs the real router over a trace in virtual time, to compare policies.
//
//	trace ──arrivals──▶ routing.Profile ──decision──▶ replica: scheduler.Core over kvpool, steps of a stated cost
//	                       ▲         ▲                    │                 │
//	                       │         └── fleet.Flight ◀───┴─ first tokens   │
//	                       └──────────── index ◀──── cache events, delayed ─┘
//
// Everything that decides is what serves: the profile that routing.Build makes, the index, the fleet's ledgers, and one
// scheduler for each replica. Only the engine's arithmetic is replaced by its time, and the gateway's Gate, which never
// holds back what the Core would not.
//
//  1. The same trace, Config and profile give the same figures on any machine. Only Result.Decision is wall-clock time.
//  2. At one moment steps end before events arrive before requests do, and each of these in a fixed order.
//  3. A policy is told what a gateway knows: prompts, not the lengths of answers.
package replay
