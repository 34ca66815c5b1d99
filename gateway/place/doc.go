// Package place is one hold on one replica.
//
//	            Permit            Admit              Grow …              Close
//	breaker     asks ──────────────────────────────── lives ───────────── outcome
//	Gate                          ticket ──────────── grows ──── Vacate ─ released
//	ledger                        entry ───────────── grows ───────────── landed
//	watch                         Context, which the Gate ends when it takes the place back
//
// The answer's own replica, the legs before it, shadows and a stream that is resumed on another replica all hold their
// replicas by a Place. The replay of traces has the ledger's entry alone: it plays engines, which have no Gate and
// never fail (see internal/replay).
//
//  1. Each part is acquired in one method and given back in one: Release for all but the permit, Close for all.
//  2. Giving back is idempotent: a part that is not held is not given back again.
//  3. A Place belongs to one goroutine at a time. Only its Context may be ended by another.
package place
