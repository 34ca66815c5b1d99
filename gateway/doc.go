// Package gateway is the line of a request, from the client's head to the receipt.
//
//	client -> conn -> intake -> decide -> plan -> dispatch -> stream -> client
//	                    |         |        |         |          |
//	                    |         |        |         |          +-- gateway/stream: a Relay; the life of a stream
//	                    |         |        |         +-- the replicas in turn, each held by a gateway/place.Place
//	                    |         |        +-- the specialist's pipeline: which replicas, in which order
//	                    |         +-- which specialist: cascade, stickiness, probation, stand-in, floors
//	                    +-- gateway/intake: a Request, read-only once made
//
// A request that is refused on the way, or fails, ends in one typed error (errors.go). Whatever its end, the receipt is
// put away, the Place is closed and the body's memory is given back, once.
package gateway
