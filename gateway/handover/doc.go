// Package handover is the ensemble.Protocol of disaggregated serving: what each step of a workflow sends its engine,
// and what it takes from the answer for the next one.
//
//	preprocess ──▶ prefill ──▶ decode ──▶ client
//	    │ token ids    │ how to get at the prompt's keys and values
//
// Engines differ in how the decoding engine gets the keys and values of the prompt:
//
//	pull       vLLM's: the prefill answers kv_transfer_params, which go to the decode as they came
//	meeting    SGLang's: both are told a bootstrap server and a room, and both run at once
//	sidecar    llm-d's: the decode is sent the prefilling engine's host and port in a header, and asks it itself
//
// Invariants:
//
//  1. A Protocol belongs to one request and is used by one goroutine at a time.
//  2. After Forget, nothing that an engine handed over is sent: the decode begins from the text, or from the token ids.
//  3. What an engine hands over is passed on as it came, and only if it is valid JSON of at most paramsDepth levels.
package handover
