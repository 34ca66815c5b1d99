// Package plugins holds the plugins that profiles are made of, one a file, and the registry that names them.
//
//	given   fleet
//	          │
//	prepare   ├─ tokenize ─▶ tokens | text, chunks
//	          ├─ block-hashes ─▶ block_hashes, prompt_tokens
//	          └─ prefix-depths ─▶ depths
//	filter    health · role · prefill-endpoints · decode-endpoints · adapter · breaker · concurrency
//	score     cache-affinity · least-load · queue-depth · kv-utilization · running-requests · round-robin
//	pick      max-score · round-robin · random
//
// Invariants:
//
//  1. No plugin refers to another; they meet in slots.
//  2. A plugin with a state (a rotation, a random source) leaves it alone for a dry request, and decides as the next real
//     request with the same candidates would.
//  3. Equals are settled for the lowest host.
//  4. A scorer rates each candidate in [0,1]; candidates that it cannot tell apart get the same score.
package plugins
