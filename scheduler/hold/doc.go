// Package hold keeps the requests of a specialist none of whose replicas serves, until one does.
//
//	Enter ──▶ Backlog: priority, shares, arrival ──Open──▶ Pass ──▶ the request is routed ──▶ End
//	  │            │                                        │  at most Width at a time          │
//	  │            ├ the hold, or its deadline, is over      └──────── the next ◀───────────────┘
//	  │            └ a more urgent request needs its place
//	  └ refused, as the queue is full for one: Entered is called all the same, so that a replica is woken
//
// A Queue knows neither replicas nor pools. What opens it does, and each request that it lets out asks a Gate, which
// admits by the pool or queues it: there is no moment at which all of them run.
//
// Invariants, proven by Check:
//
//  1. A request that waits is in the Backlog, and in the order of leaving; nothing waits in an open Queue while a pass
//     is free.
//  2. At most Width passes are out. Each ends once.
//  3. Every request that entered is let out, refused, or gives its place up: once.
package hold
