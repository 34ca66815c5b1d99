// Package sse reads an engine's event stream on its way to the client: enough to count, and to end honestly.
//
//	piece ──▶ frame ──▶ whole event ──▶ data ──▶ shape: as the one before, but for its text?   count it
//	            │                                  └──▶ chunk: one walk over the JSON     count it, remember its shape
//	            │                                       (Dialect, where the stream is of another surface)
//	            └──▶ the incomplete rest is carried
//
// Invariants:
//
//  1. Only whole events are given out, and their bytes are the engine's, but for what Options leave out or cut. What is
//     given out, one after the other, is the input up to its last whole event, or to the event that ended the stream.
//  2. However the input is cut into pieces, the same bytes go out, the same is counted and the same error comes.
//  3. [DONE], an engine's error and garbage are never given out, and nothing after them is read.
//  4. The carry holds at most one event, Options.MaxEvent bytes.
//  5. A choice never brings more than Options.Most tokens, as far as its events tell.
//  6. Feed allocates nothing once the carry has grown to the size of the events.
//
// Of Octet only gateway/wire is imported, for its JSON cursor.
package sse
