// Package tokenizers turns prompts into the tokens that a specialist's engines see, so that the hashes of a prompt's
// blocks here are those of the engines' own blocks.
//
//	prompt ─┬─ given as token ids ───────────────────────────────────────────▶ tokens
//	        ├─ file:    chat template ─ text ─ BPE, both in the gateway ──────▶ tokens ─ a sample ─▶ Checks ─▶ engine
//	        ├─ builtin: the tokenizer of emulated engines ────────────────────▶ tokens
//	        ├─ engine:  POST /tokenize at one of the specialist's engines ────▶ tokens
//	        └─ none ──────────────────────────────────────────────────────────▶ ErrNoTokenizer: text stands for tokens
//
// Invariants:
//  1. A request is tokenized by the Edition of its own generation of the configuration: its text goes to no engine of
//     another generation.
//  2. A replica whose tokens differ from ours once is approximate until it, or its specialist's tokenizer, starts anew.
//  3. Comparing never delays a request: a sample that finds the queue full is dropped.
package tokenizers
