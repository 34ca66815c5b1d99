// Package tenant knows the tenants: their keys, permissions, priorities, quotas and cache salts.
//
//	Authorization  →  Table.Identify  →  *Tenant  →  Permits, Clamp, Take, Enter/Leave, Salt
//	                   a key, a token                 Charge/Settle the rate, Reserve/Spend the budget
//
// Invariants:
//
//  1. A tenant is known by one of its API keys alone, until that expires, or by a verified token that names it.
//  2. Each Enter that succeeds is followed by exactly one Leave, each Charge by exactly one Settle, each Reserve by
//     exactly one Spend.
//  3. A reload keeps what tenants of the same name have open and have used of their budgets, and the balances of rates
//     that did not change.
package tenant
