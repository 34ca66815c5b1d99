// Package tokens turns a rendered prompt into its tokens and the chain of its blocks' hashes, and remembers both for
// every beginning that it has seen, so that a follow-up turn costs its new text only.
//
//	text ──bpe.Cut──▶ chunk ─▶ chunk ─▶ chunk ─▶ rest
//	                    │        │        └ new: encoded, and remembered behind its parent
//	                    └────────┴ remembered: tokens and hashes are copied
//
// Invariants:
//
//  1. What comes out is what encoding and hashing the whole gives: chunks end where bpe.Cut says that a text may be cut
//     whatever surrounds the place, and a chunk is known by its text, not by the text's hash.
//  2. What one root (a specialist, an adapter, a tenant's salt) has taught the cache is never used for another, and so
//     shows in no other root's timing.
//  3. The cache never holds more than its bytes. What was used longest ago goes first, and a beginning stays as long as
//     what follows it.
package tokens
