// Package hangup tells which connections' peers have closed or reset them, whether or not anybody reads.
//
// With it a reader need not ask, after a read that took all there was, whether more has come: the poller tells of the
// next bytes. Only an end that came together with the last bytes would go unnoticed, and that the Watch reports.
//
//  1. Each connection's end is reported once, after it has happened and never before.
//  2. A Watch holds one descriptor and one goroutine however many connections it has.
package hangup
