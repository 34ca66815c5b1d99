// Package sim runs the scheduler in virtual time, under seeded load, and checks what the scheduler promises while it
// runs.
//
//	Workload(seed) ──arrivals, cancellations──▶ Core  ◀──steps──▶ engine of exact arithmetic, over a KV memory
//	             │                                                that is read back
//	             ├────▶ Gate ───┐
//	             └────▶ Model ──┴◀──tokens── engine that batches itself, same arithmetic, optional noise
//	                              │
//	                     Outcome: counts, waits, trace hash, and the first promise that was broken
//
// There is no wall clock and no order that is left to chance: the same seed gives the same trace hash on every run, and
// a Gate leaves the same one as its Model alone.
//
//  1. Conservation: free + used + reserved == total after every step; Check every CheckEvery steps and at the end.
//  2. Paging: every position that a step reads holds the content that its sequence put there, whatever was shared,
//     evicted, preempted, aborted, rejected, or copied to host memory and back meanwhile; no sequence writes where
//     another one writes or reads.
//  3. Order: of one priority, adapter and tenant, requests start in the order of their arrival, as long as none gives
//     way.
//  4. Overtaking: a batch holds one adapter, or any if that is on, and of n adapters that could run each has one of any
//     n consecutive batches.
//  5. No starvation: what was accepted finishes, within a number of steps in proportion to the tokens that were open.
//  6. Preemption: strictly less urgent ones only, and only for one that starts in the same step; or, if none starts,
//     for the next block of one at least as urgent. No request gives way if less urgent ones alone could have made the
//     room; none starts and gives way in one step, in either order; and none gives way a fifth time. At a Gate the
//     request that takes a place starts when the victims have gone.
//  7. When all is done the pool is as it was at the beginning.
//
// Of a Core only, the last three if a batch shows what runs:
//
//  8. Refusals are what the bounds of requests, bytes and blocks say, and nothing else is refused.
//  9. Hybrids: the recurrent state is the one behind the position that a step starts at; a copy holds the whole
//     sequence; the bytes in host memory are those of the copies that a request wants, and within the bound; every
//     other is told to go.
//  10. Speculation: drafts are no more than can still be used, and what was rejected gives its blocks back.
//  11. Aging: from its arrival + (ceiling - priority) × aging on, a request sees no later one of its tenant start.
//  12. Shares: while two tenants have requests waiting, the tokens that they started, each over its weight, move apart
//     by less than two quanta and two largest requests.
//  13. The bytes that wait are those of the requests that never started.
package sim
