// Package intake makes a Request of what a client sent: it checks the head, finds the tenant, reads the intent, and
// receives and parses the body.
//
//	Begin  →  ReadHead (tenant, origin, Via, media, Intent)  →  ReadBody (Arriving, Memory, Parse)  →  Request
//	                                                            Inline: repo snippets, tool outputs
//	                                                            a stream has begun: Release ⇄ Restore  →  End
//
// Invariants:
//
//  1. A Request does not change once ReadBody has returned, but for its Body: Release gives it back and Restore reads
//     it again.
//  2. A Body is pooled. What outlives Release (a shadow, a leg, a receipt) holds copies.
//  3. Memory counts each byte of a body, and of a copy that Release keeps, from when it is received until End.
package intake
