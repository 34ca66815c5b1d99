// Package plugins holds the plugins that profiles are made of, one a file, the registry that names them, and the
// presets. What each takes and does stands in CATALOGUE.md.
//
//	given   fleet, near
//	          │
//	prepare   ├─ tokenize ─▶ tokens | text, chunks ─▶ block-hashes ─▶ block_hashes, prompt_tokens
//	          │      block_hashes ─▶ prefix-depths ─▶ depths ─▶ tier-depths ─▶ tier_depths
//	          ├─ session-key ─▶ session_key ─▶ consistent-hash-key ─▶ hash_key · tenant ─▶ tenant
//	          └─ in-flight-load ─▶ loads · predicted-latency ─▶ forecasts · locality ─▶ distances
//	filter    by state (health, role, breaker, …), by label and place, by fullness, by what is held or foretold
//	score     cache · load · adapters and sessions · time · place · costs of other routers
//	pick      by score · by turn · by session, hash or name · by chance
//
// Invariants:
//
//  1. No plugin refers to another; they meet in slots.
//  2. A plugin with a state (a rotation, a random source, a memory of sessions) leaves it alone for a dry request, and
//     decides as the next real request with the same candidates would.
//  3. Equals are settled for the lowest host; a picker that draws settles them by the draw.
//  4. A scorer rates each candidate in [0,1]; candidates that it cannot tell apart get the same score.
//  5. All chance is seeded, and no plugin has a clock: now is a fact of the request.
package plugins
