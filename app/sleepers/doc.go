// Package sleepers wakes replicas for requests that no replica serves, and puts idle ones to sleep.
//
//	request ──▶ hold.Queue ──first one──▶ wake-up: at one engine that sleeps, or by the operator's program
//	               ▲                          │
//	            Open, Close                   ▼
//	               └──── Look: does a replica serve? ◀── probes, generations, what engines say, every 100 ms
//
//	idle for sleep.after ──▶ at rest: it takes no request ──nothing in flight?──▶ its engine is asked to sleep
//
// Invariants:
//
//  1. One wake-up of a specialist is under way at a time. It is over when a replica serves, or has failed; then the
//     next waits a pause that grows.
//  2. Requests are let out while a replica of the newest generation serves that a probe has found good.
//  3. An engine is asked to sleep only while its replica is at rest and has nothing in flight. A request that comes
//     between finds the replica at rest, and is held or goes elsewhere.
//  4. Replicas that compute prompts for others are put to sleep after those that answer, and woken, one of each role,
//     once one of those serves.
//  5. Requests of clients wake, and of their copies only those that a demoted specialist is owed: it could not recover
//     else. They do not enter the Queue, and neither do shadows and decisions without a request.
package sleepers
