// Package adminclient asks a running gateway what its admin listener answers: the commands that look at a gateway or
// change it share one client, and so one way to fail.
//
//	command ─▶ Client ── State, Knobs, Receipt, Drain, … ──▶ admin listener
//	   ▲          └ a Failure: ErrAddress, ErrDown, ErrToken, ErrUnknown, ErrRefused, ErrAnswer
//	   └ one line on standard error
//
// 1. The token goes to the address that was given and to no other: redirects are not followed.
// 2. An answer is read up to a bound, and a call ends within a timeout or with its context.
// 3. What a gateway says is text of others: Plain makes it harmless to a terminal.
package adminclient
