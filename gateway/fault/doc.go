// Package fault says what the end of an attempt, or of a request, means.
//
//	error ──▶ Of         the one typed error that the client is told
//	      ──▶ CauseOf    the party that could have caused it
//	      ──▶ VerdictOf  what it says of the replica, for its breaker
//	      ──▶ Retryable  whether another replica may do better
//	      ──▶ Outcome    its name in receipts and metrics
//
// What an engine says of itself becomes such an error by a Report.
//
//  1. An error gets its code in Of and nowhere else.
//  2. An error that several parties could have caused is counted to the first in the table: never against a replica
//     for what it cannot have caused.
//  3. The words of an engine reach the log and the operator. A client is told a sentence of ours.
package fault
