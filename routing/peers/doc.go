// Package peers is what gateways before the same replicas know of each other.
//
//	Teller ─ what has changed here ─▶ Link ─▶ Roll ─▶ Beside(replica): what all the others have there
//
// None of them leads, and none owns a part of a replica: each tells what it has at each replica, and each takes what
// the others tell for as real as its own. There is no clock, no lock and no goroutine in this package; times are
// arguments.
//
// What holds:
//
//  1. A gateway counts from its first message until its lease is over, counted by the reader's clock from the moment
//     its last message came, or until it says that it leaves. From then on nothing of it counts.
//  2. What a gateway tells of a replica takes the place of what it told before: no message is added to another, so one
//     that is lost, or that comes twice, does no harm beyond the next whole one, a third of a lease later.
//  3. A new life of a gateway begins with nothing, whatever its last one had told.
//  4. What is kept is bounded: so many gateways, so many replicas of each; what is beyond is counted and forgotten.
package peers
