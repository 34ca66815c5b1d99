// Package zmqstream carries cache events as vLLM and SGLang publish them: over ZeroMQ, three frames a message (topic,
// sequence number, msgpack batch), with a socket that replays the last ten thousand.
//
//	engine PUB ═════▶ inbox, bounded ─▶ follower ─▶ Sink          Publisher ═▶ the same, as an engine
//	engine ROUTER ◀═ "from seq" ══════▶ ┘
//
// Invariants:
//
//  1. Engines number from 0 in each life and do not say which life it is. A Consumer gives each life an epoch. After
//     every interruption it asks for the batch that it had last, and goes on only when it gets the same one: another
//     one, or none, is another life.
//  2. A gap is read again from the replay socket before anything after it is delivered, so that what was removed does
//     not come back.
//  3. What cannot be replayed shows as a gap in the numbers, and an interruption that cannot be looked into as a gap
//     too: the replica is stale, and known as far as what it registers from then on tells. So is a batch that cannot
//     be read, at once.
//  4. Bytes from the network take memory in proportion to their number, and never more than the limits of package
//     events.
//  5. An endpoint speaks for one replica. Where the gateway listens, one host at a time is heard there, for as long as
//     its connection lasts.
package zmqstream
