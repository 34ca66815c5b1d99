// Package verify judges answers by running a command on the code in them, away from the requests.
//
//	answer ─▶ Offer ─▶ queue (bounded) ─▶ worker: longest fenced block ─▶ cage: file ─▶ command ─▶ verdict
//
// Invariants:
//
//  1. Offer never waits. What does not fit the queue is not judged.
//  2. A command runs in a cage: it sees a toolchain, read-only, and a small file system in memory, and no other file,
//     no /proc, no network, no process of the host, no input. It has bounds on time, memory, processes and what it
//     writes, no capability, a filter of system calls, and, where the gateway is root, a uid of its own. Where the
//     system cannot do that, New fails with ErrIsolation: nothing is ever run with less.
//  3. What it writes goes nowhere. Its exit alone says pass or fail; one that could not be started says neither.
//  4. With the command end all processes that it started, and its file system goes.
package verify
