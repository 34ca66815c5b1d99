// Package emulator is an OpenAI server as an LLM engine is one, without the network: its scheduler, its paged KV cache,
// its prefix hits, preemptions and cache events are the real thing, only the arithmetic of a model is a model of its time.
//
//	HTTP ──▶ ask ──▶ scheduler.Loop ──Batch──▶ model.Step   sleeps as long as the batch would take,
//	 ▲                │   │    ▲                  │         and samples from each sequence's voice
//	 │            tokens  │    └──── Results ─────┘
//	 └── wire ◀── answer ◀┘
//	  (faults)        └─ block events ──▶ outbox ──▶ events.Publisher
//
// What a sequence says is a pure function of its request and of the token's index (a voice): the step computes the token's
// id from it and the handler the token's text, so neither waits for the other, and a preempted sequence goes on where it was.
//
// Invariants:
//
//  1. A handler writes a token only when its id is the one that the request's own voice says at that index: a lost, repeated
//     or foreign token ends the answer with an error.
//  2. When a handler returns, however it ends, the blocks of its sequences are free or on their way to be.
//  3. Event batches are numbered 1, 2, 3 … from the start of Run, the first being Cleared; a batch that is lost is a gap.
//  4. Nothing that a client or a transport does blocks the scheduler's loop.
//  5. Blocks computed under one adapter, one loading of it, or one salt are never reused under another.
package emulator
