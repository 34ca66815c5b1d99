// Package engine says what a replica is to the rest of the house, and holds the two facts that a replica and the
// gateway in front of it must agree on to the byte: how a chat becomes a prompt, and how a prompt becomes tokens.
//
//	messages ──RenderChat──▶ prompt text ──Tokenize──▶ token ids ──(kvpool.Hasher)──▶ block hashes
//	           template.go                 tokenizer.go
//
// Invariants:
//
//  1. Both functions are pure: equal input gives equal output in every process, on every machine, for ever.
//  2. The pieces of a text, put together, are the text: nothing is lost, normalised or added.
//  3. Cutting a text between two of its pieces and tokenizing both parts gives the tokens of the whole.
//  4. The template adds the same bytes around a message whatever stands in it, so a conversation that grows by a turn
//     starts with the text of the shorter one.
package engine
