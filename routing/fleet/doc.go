// Package fleet knows the replicas of each specialist and what state they are in.
//
//	config ──Put/Remove──▶ Fleet ──Snapshot(specialist)──▶ one request's replicas, immutable
//	                         │
//	   Monitor ──probes──▶ Replica ◀──OnSuccess, OnConnectFailure── gateway (passive health)
//	                       │  │  └── Route ▶ Flight, LoadFrom, Reports ──▶ Load, Pace, Reported
//	                       │  └── Take/Allow ──▶ breaker (availability); at most a share of the replicas is open
//	                       └── down, draining, withdrawn, tripped: one bit each, shared by the whole Fleet
//
// Invariants:
//
//  1. Reading (Snapshot and everything on it, Replica's predicates, Load) takes no lock.
//  2. A Snapshot never changes in membership; the state of its replicas does.
//  3. A host id belongs to one replica at a time.
//  4. A replica starts healthy. Only a Monitor's watch marks it down, since only a Monitor brings it back.
//  5. A breaker that is not closed holds one of its specialist's ejection places; there are max(1, floor(share ×
//     replicas)).
//  6. What a Flight enters into a replica's ledger, its Land takes out: idle replicas weigh nothing.
//  7. A replica is withdrawn while its engine has announced its end (ShutDown) or its events have stopped (SetSilent).
//     Probes alone end the first.
//  8. A half-open breaker lets exactly Probes requests through, and every permit is settled once.
package fleet
