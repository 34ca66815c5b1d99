// Package pairs asks one world for two features at a time. It has tests only.
//
//	two tenants ─▶ gateway ─▶ alpha  two replicas, an adapter
//	                       ─▶ beta   two replicas; the first tenant may not use it
//	                       ─▶ gamma  a replica that prefills and one that decodes
//
// A feature changes the configuration, the questions and what happens meanwhile. A cell is the world under two
// features. What holds in every cell:
//
//  1. No engine is asked what the tenant may not send: no specialist that it may not use, no word of a client for a
//     salt, no priority above its ceiling, no adapter that was not asked for. An engine is asked what the receipt says.
//  2. An answer is whole and the request's own, or ends in one typed error that a feature of the cell allows, within
//     the request's deadlines.
//  3. Every ledger is back at its baseline: Gates, replicas, engines, seats, the tenants' open requests, the memory of
//     bodies, claims of keys, shadows.
//  4. Every request is charged once, at what its receipt says.
//  5. A receipt says what the client was told. One verdict of a kind counts, its tenant's.
package pairs
