// Package replay runs the real router over a trace in virtual time, to compare policies.
//
//	trace ──arrivals──▶ routing.Profile ──decision──▶ replica: scheduler.Core over kvpool, steps of a stated cost
//	                       ▲         ▲                    │                 │
//	                       │         └── fleet.Flight ◀───┴─ first tokens   │
//	                       └─ beliefs over index ◀── cache events, delayed ─┘
//
// Everything that decides is what serves: the profile that routing.Build makes, the index, what is believed of caches
// before events tell, the fleet's ledgers, and one scheduler for each replica. Only the engine's arithmetic is replaced
// by its time.
//
// What a replay holds of a replica is its entry in the ledger, a fleet.Flight. It is no place.Place: a replay has no
// breaker (no engine fails), no Gate (requests queue in the Core, whose admission is exact, where a Gate would hold
// them back by a model of it) and no context (time is a number). Of a Place that leaves the Flight, and it would be
// told of an answer's growth once a block, where policies are compared by ledgers that are true at each token.
//
//  1. The same trace, Config and profile give the same figures on any machine. Only Result.Decision is wall-clock time.
//  2. At one moment steps end before events arrive before requests do, and each of these in a fixed order.
//  3. A policy is told what a gateway knows: prompts, not the lengths of answers.
package replay
