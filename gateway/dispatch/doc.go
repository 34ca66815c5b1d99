// Package dispatch has one request answered by the replicas of a specialist.
//
//	Route ─▶ Run ─▶ turn of a replica ─▶ turn of the next … ─▶ first byte ─▶ Carry ─▶ Client.End
//	                │                                                        │
//	                ├ permit, place at the Gate      (gateway/place)         ├ preempted: queues again, goes on
//	                ├ legs before the answer                                 ├ engine died: goes on elsewhere
//	                └ engine: head, first event      (gateway/stream)        └ parked: no goroutine
//
// A Dispatch belongs to one request and to one goroutine at a time: the handler's until Run has returned, then that of
// Carry, and none while the stream is parked. Its legs beside the answer run on goroutines of their own, which it waits
// for.
//
//  1. A request holds at most one replica that answers. While it queues for another it holds none that others decode
//     on.
//  2. Each turn ends in one place, settle, which gives all back and tells the breaker what the end says of the replica.
//  3. Before the client has a byte another replica may be tried, within the retry budget. After it only a stream whose
//     text is all that another engine needs goes on elsewhere.
//  4. Client.End is called once for a stream that has begun, and never for an answer in one piece.
package dispatch
