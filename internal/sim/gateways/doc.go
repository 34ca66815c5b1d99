// Package gateways runs several gateways before the same engines in virtual time, to measure what it costs that none of
// them sees all.
//
//	trace ─▶ clients ─▶ gateway 1 … n: routing.Profile over an index, fleet ledgers, a gate.Model for each engine
//	                       │    ▲  peers.Teller ─▶ network (delay, loss, partition) ─▶ peers.Roll
//	                       ▼    └── cache events, reports of load, tokens
//	                    engines: scheduler.Core over kvpool, steps of a stated cost
//
// Everything that decides is what serves: the profile that routing.Build makes, the indexes and beliefs, the fleet's
// ledgers, the Models that Gates lock, and the messages of package peers, byte for byte. What app/peering does under a
// mutex and a clock, gathering what a gateway has at a replica and telling its ledger and Gate what the others have,
// is done here by the same rules. Engines, clients and the network are modelled.
//
//  1. The same trace and Config give the same Figures on any machine: there is one agenda, and no clock or goroutine.
//  2. A gateway knows what its own requests, the engines' events and reports, and messages that arrived tell it.
//  3. One gateway sends nothing, and is the plain single gateway.
//  4. When all is done, no gateway holds anything at an engine, and no engine holds a request.
package gateways
