// Package fabric brings engines' cache events to what the gateway believes of their caches.
//
//	engine ──ZMQ socket of its own──▶ sockets ─┐
//	engines ─Redis, NATS, gRPC──────▶ shared ──┼─▶ events.Feed ─▶ belief.Beliefs ─▶ index.Indexer
//	engine ◀─GET its snapshot──────── resync ──┘        │                │
//	file or peer ◀──snapshot─────────────────────────────┘                └─▶ plugins, admin listener
//
// Invariants:
//  1. Commit ends a replica's sockets before its slot can be another's, and opens new ones after its target is known:
//     no event of one replica is ever applied to the slot of the next.
//  2. A slot is swept before it is admitted again.
//  3. A replica all of whose sources are unreachable for events.trust_for is silent: its events count for nothing.
package fabric
