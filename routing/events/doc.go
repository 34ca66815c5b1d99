// Package events carries what engines publish about their KV caches to the index. The message that outsiders write is
// octetkv.proto; here are its Go form, its codec, the transports' interfaces and the Feed.
//
//	engine ─▶ Publisher ═ Redis ═▶ Consumer ─▶ session ─┐
//	      └─▶ Publisher ═ NATS ══▶ Consumer ─▶ session ─┤
//	engine ─▶ Local ─────────────▶ Consumer ─▶ session ─┴▶ Feed ─ per replica ─┬ lease: whose batches count
//	                                                                           ├ sequence: one order, each batch once
//	                                                                           └ mapping: engine hash ─▶ our hashes
//	                                                                                                ─▶ index.Apply
//
// Invariants:
//
//  1. A batch is applied at most once and whole, and each replica's batches in the order of (epoch, seq), whatever
//     transports bring them, in whatever interleaving. What one transport loses another may bring, as long as it is
//     behind.
//  2. A gap is taken as soon as no session that carries the replica can fill it any more, or MaxEarly batches wait, or
//     there is no room for one that waits. Then the index is told, which marks the replica stale and forgets its
//     blocks. Nothing waits by the clock. A batch that came and cannot be read is a gap by itself.
//  3. The order is settled before the mapping is touched: repetitions and batches of an earlier life change nothing.
//  4. A later epoch empties the mapping, and the index with it, even while its own first batch is still missing.
//  5. A block of ours is in a tier of the index exactly while some engine block that stands for it has a copy in that
//     tier. Engine blocks are counted by copy, tier by tier.
//  6. What cannot be told for sure is not claimed: blocks after an unknown one, of a size that does not fit, of two
//     contents, or beyond MaxBlocks. The index may know less than the engine holds, never more.
//  7. Engine hashes are names and prove nothing. What a block holds comes from its tokens and from what was before it,
//     under a root of (specialist, adapter, salt).
//  8. Engine blocks may be a multiple of ours in size: each becomes several. Smaller ones are counted as unmappable: a
//     block of ours would be there only while all its parts are, and engines that page by the token are better served
//     by an index block size of their own.
//  9. Memory is bounded for any publisher: a message by the limits, a replica by MaxBlocks and MaxEarly; unknown names
//     are not kept. Waiting batches and blocks of unknown content are charged by the byte to one account with the
//     index, and a replica to a share of that.
//  10. A replica's first publisher holds a lease on it, one a source: batches of other publishers change nothing, and
//     are counted. The lease ends with the replica's life, or when all holders have been silent for the Target's
//     Patience; a challenger's later epoch, parked meanwhile, is then applied. Another source becomes a holder once it
//     brings the same batches. Sources have names of the gateway's own; how far publishers' names can be trusted
//     depends on the transport. A Target may also name the only source of a replica.
//  11. After a gap, and where a gateway joins an engine that has published before, a block counts from when it is
//     registered again. Names stay: what follows a block that was heard of is known. What follows any other is an
//     orphan. Evictions of blocks without a known copy are counted.
//  12. What a replica's mapping holds can be replaced as a whole: by what the engine says that it holds, of the same
//     epoch only, or by what a gateway has saved. Either way it goes on with the batch after that, and later events win
//     over earlier knowledge.
//
// Tokens or names. By tokens, any engine is understood, whatever it hashes by, and a prompt's chain costs next to
// nothing; but an event without tokens, or one whose parent was published before the gateway listened, says nothing. By
// names, each block says by itself what it holds, on its first mention, whatever was routed and whenever the gateway
// started; and where scheme or seed are not what was configured, no prompt meets a name and the replica is taken to
// hold nothing. The alternative, to remember for each prompt that was routed what the engine will call it, would know
// nothing of prompts that another gateway routed, of answers, or of anything before a restart. The price is paid by the
// prompt: 0.35 µs a block of 16 where one of ours costs 0.015, for what engine/tokens does not remember of it. A
// specialist's block size is then its engines' own; blocks of another are counted as unmappable.
package events
