// Package pairs asks one world for two features at a time. It has tests only.
//
//	two tenants ─▶ gateway ─▶ alpha  two replicas, an adapter
//	                       ─▶ beta   two replicas; the first tenant may not use it
//	                       ─▶ gamma  a replica that prefills and one that decodes
//	                       ─▶ delta  demoted: in the cells of "stand-in" alone
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
//  6. A copy is compared with whole answers of another specialist, or of its own without the adapter.
//
// A feature holds the answers of its cells to more: "stickiness" to the specialist of their conversation, "rules" to
// the profile that their header asks for. Under "direct" the replica that a request names answers, or the request ends
// in one typed error; its copies and the legs before the answer do not go by the name, it has no second choice, and the
// tenant without the right is refused. Under "stand-in" the lead answers for a demoted specialist with the adapter that
// is asked for, and refuses one that it has not. Under a door the answer is in the words of its grammar, errors
// included; tools, results, images and headers that are named reach each engine that is asked, copies included.
// Under "rollout" an answer of two weights counts for none. Under "adapter on demand" and "adapter rotation" engines
// begin without adapters: the gateway loads what is asked for, and each answer is by the adapter that it asks for.
// Under "uneven" no replica is asked what is longer than its context, unless the request names it.
// Under "several" both answers to a prompt are whole, and no copy is made of them. Under "hang up" clients leave in the
// midst of a stream, pay for what they were sent, and come again with the same body and key.
package pairs
