// Package peering makes this gateway one of several before the same replicas. What each has at a replica reaches the
// others' ledgers and Gates, and what an operator sets at one holds at all.
//
//	replicas ─ gather ─▶ peers.Teller ─▶ Link ═▶ others
//	replicas ◀─ apply ── peers.Roll ◀── Link ◀═ others
//
// One mutex guards all that is known; it is never held while a message is sent, nor while a replica is told. Replicas
// are told one at a time, under a mutex of their own. While the store is away the gateway goes on alone: what the
// others told last counts until their leases are over, and tenants have its part of their rates.
package peering
