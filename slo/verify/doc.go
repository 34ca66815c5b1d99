// Package verify judges answers by running a command on the code in them, away from the requests.
//
//	answer ─▶ Offer ─▶ queue (bounded) ─▶ worker: longest fenced block ─▶ file ─▶ command ─▶ verdict
//
// Invariants:
//
//  1. Offer never waits. What does not fit the queue is not judged.
//  2. A command has no network, no input, an environment of its own, and bounds on time, memory and what it writes. Where the
//     system cannot isolate it, New fails: nothing is ever run with less.
//  3. What it writes goes nowhere. Its exit alone says pass or fail; one that could not be started says neither.
//  4. With the command end all processes that it started, and its directory goes.
package verify
