// Package sock reads and writes sockets that do not block, by system calls that the scheduler is not told of.
//
// Telling it costs more than the call's own overhead: each call of a process that was idle wakes the runtime's monitor
// thread, which then looks on, every 20 µs, until the process is idle again. A call that never waits need not be
// looked after.
//
//  1. No call waits: where there is nothing to read, or no room to write, it says EAGAIN.
//  2. Read, Write and WriteParts are for callbacks of the descriptor's RawConn, where it stays open and nothing else
//     uses it.
//  3. Send waits in the runtime's poller, so deadlines and Close of its connection end that as they end a Write.
package sock
