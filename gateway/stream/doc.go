// Package stream carries an answer from the engines that bring it to its client.
//
//	engine -> scanner -> Continuation -> Normalizer -> Rewriter -> Outbox -> client
//	             |       (what another    (as OpenAI's   (the plan's
//	             |        engine would     clients       protocol)
//	             |        go on from)      know it)
//	             +-> Place: growth; the place back for the Gate
//	             +-> Observer: first token, usage
//	             +-> Transcript: the text and the tool calls, for judges
//
// The life of a stream. It has one owner at a time, and each arrow hands it on.
//
//	handler --- Detach, as the handler returns --> goroutine --- Park, when quiet --> the engine's poll loop
//	(Open: the first byte)                          Rest  ^  ^                              |
//	                                                  |   |  +-- Resumed: a burst, a slow --+
//	             another place or engine, and Open ---+---+      client, an end, a panic
//	                                                  |
//	                                                  +--> over: [DONE], or an error event and a close
//
// What always holds:
//
//  1. The client gets whole events, each once and in order, and at most the tokens that it asked for.
//  2. An answer ends in exactly one way: complete (with [DONE]), or with the error that Rest, Open or Whole returns.
//  3. Delivered counts tokens as the engines tell them. An answer whose tokens are not known exactly is pinned: it is
//     not continued by guess.
//  4. Memory of an engine's read is used only until the next read of it: the Outbox owns what it keeps before that.
package stream
