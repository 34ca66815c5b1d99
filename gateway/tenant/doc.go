// Package tenant knows the tenants: their keys, permissions, priorities, quotas and cache salts.
//
//	Authorization  →  Table.Identify  →  *Tenant  →  Permits, Clamp, Take, Enter/Leave, Charge/Settle, Salt
//
// Invariants:
//
//  1. A tenant is known by its API key alone.
//  2. Each Enter that succeeds is followed by exactly one Leave, each Charge by exactly one Settle.
//  3. A reload keeps what tenants of the same name have open, and the balances of rates that did not change.
package tenant
