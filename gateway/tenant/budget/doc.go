// Package budget counts what tenants use of a day and of a month of UTC, in tokens.
//
//	Ledger ─▶ Account (of a tenant) ─▶ day, month: a count for each period
//	           Take reserves a prompt, Add corrects it to what was used      Shared: the count of all gateways
//
// Invariants:
//
//  1. What is taken and added at a time counts in the day and the month of that time, whenever it is told.
//  2. A count is never lost to a clock that jumps: the two periods that were used last are kept.
//  3. Take refuses before a count is above its limit; Add may bring it above, by what answers in flight come to.
//  4. While the count of all gateways cannot be had, a gateway goes by its part of what was left, and owes what it
//     counted until then.
package budget
