// Package sim runs the scheduler in virtual time, under seeded load, and checks what the scheduler promises while it runs.
//
//	Workload(seed) ──arrivals, cancellations──▶ Core ◀──steps──▶ engine of exact arithmetic, over a KV memory that is read back
//	                                    └─────▶ Gate ◀──tokens── engine that batches itself, same arithmetic, optional noise
//	                                              │
//	                     Outcome: counts, waits, trace hash, and the first promise that was broken
//
// There is no wall clock and no order that is left to chance: the same seed gives the same trace hash on every run.
//
//  1. Conservation: free + used + reserved == total after every step; Check every CheckEvery steps and at the end.
//  2. Paging: every position that a step reads holds the content that its sequence put there, whatever was shared, evicted,
//     preempted, aborted or rejected meanwhile; nobody writes where another one writes or reads.
//  3. Order: of one priority, adapter and tenant, requests start in the order of their arrival, as long as nobody gives way.
//  4. Overtaking: a batch holds one adapter, and of n adapters that could run each has one of any n consecutive batches.
//  5. No starvation: what was accepted finishes, within a number of steps in proportion to the tokens that were open.
//  6. Preemption: strictly less urgent ones only, and only for one that starts in the same step; at a
//     Gate it starts when they have gone.
//  7. When all is done the pool is as it was at the beginning.
package sim
