// Package emulator is an OpenAI server as an LLM engine is one, without the network: its scheduler, its paged KV cache,
// its prefix hits, preemptions and cache events are the real thing. Its answers are read from a script, or computed by
// a tiny model; how long a step takes is arithmetic.
//
//	HTTP ──▶ ask ──▶ scheduler.Loop ──Batch──▶ stepper.Step   asks the model, and takes as long as the batch would
//	 ▲                │   │    ▲                  │
//	 │            tokens  │    └──── Results ─────┤
//	 └── wire ◀── answer ◀┘                       ├─▶ scriptedModel   index, prose, tools: each sequence's script
//	  (faults)        └─ block events ──▶ outbox  └─▶ tinyModel   a transformer over the batch's block tables
//	                                        └──▶ events.Publisher
//
// A script is a pure function of its request and of the token's index: the step computes the token's id from it and the
// handler the token's text, so neither waits for the other, and a preempted sequence goes on where it was. What a
// tinyModel answers follows from all tokens before, from the adapter and from the request's temperature, top_p and
// seed; without a temperature it is greedy. It is the same with and without prefix reuse, neighbours, chunks,
// preemption and drafts if, and only if, the paging is right. Its time counts as part of the step's.
//
// In TextTools a script is made of segments: reasoning, text and calls, with the template's marks between them, which
// are tokens that no client sees. Which there are follows from the request's tools, tool_choice, reasoning_effort and
// response_format, from the prompt, and from a directive in the last user's message, as in "[[reasoning=12 calls=2]]".
// A continued answer goes on at its token, except that JSON begins anew: as with engines, a grammar starts with the
// first token that is generated.
//
// A prompt may be computed by one engine for another: its keys and values wait beside the pool, for a lease, until the
// other fetches them over HTTP, by vLLM's kv_transfer_params or in a room as SGLang's pairs do. An engine that cannot
// fetch them fails the request before anything of the answer; it never computes the prompt on the quiet.
//
// Invariants:
//
//  1. A handler writes the tokens of a sequence in the order of their indices, and each only when its id is the one
//     that the request's own script has there, or for a tinyModel one of the vocabulary: a lost, repeated or foreign
//     token ends the answer with an error.
//  2. When a handler returns, however it ends, the blocks of its sequences are free or on their way to be.
//  3. Event batches are numbered 1, 2, 3 … from the start of Run, the first being Cleared; a batch that is lost is a
//     gap.
//  4. Nothing that a client or a transport does blocks the scheduler's loop.
//  5. The text of an answer, put back between the chat template's marks, is the tokens that it was generated as.
//  6. What is fetched is of the same model, adapter, salt and tokens, and is fetched once.
//  7. Blocks computed under one adapter, one loading of it, or one salt are never reused under another.
package emulator
