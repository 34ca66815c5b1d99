// Package doctor looks for what is wrong between a gateway and its engines before clients notice, and says what to
// paste.
//
//	engine ── questions, two trial requests ──▶ ┐
//	its event sockets, Redis, NATS ── ears ───▶ ├ Facts ─▶ Checks, pure ─▶ findings: check, replica, status, cure
//	what a running gateway knows ─────────────▶ ┘
//
// Invariants:
//
//  1. A check is a pure function of Facts: what is found in a file's replicas and at a running gateway is one thing.
//  2. A warning or failure rests on something that was seen. What an engine does not tell, or could not be asked, is
//     none.
//  3. Nothing is changed: no adapter is loaded, no stream made, no engine woken. An engine gets two requests for one
//     token.
//  4. All of it is bounded in time, and so is what is asked at once.
package doctor
