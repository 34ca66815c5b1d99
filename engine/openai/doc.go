// Package openai talks to a replica that serves the OpenAI API: vLLM, SGLang, llama.cpp's server, any other.
//
//	Do ───────────────────────────────┐
//	Probe, Models, Identify ──────────┤
//	Scrape (metrics page) ────────────┼──▶ internal/http1/client ──▶ replica
//	Tokenize, ApplyTemplate ──────────┤
//	LoadAdapter, UnloadAdapter ───────┘
//	          probe.go: ask
//
// The HTTP itself is the client's; here is what is said over it, and where kinds of engines differ in that (paths.go,
// identify.go). Errors of the client are made engine's in one place (errors.go).
//
// Invariants:
//
//  1. What is made of an answer allocates at most 20 times its bytes and a mebibyte, whatever is in it (answers.go).
//  2. An answer that is not what was asked for is an error, never a guess: ErrUnsupported, a StatusError,
//     engine.ErrProtocol or engine.ErrTooLarge.
package openai
