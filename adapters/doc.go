// Package adapters knows the LoRA adapters of the ensemble: which exist, and where they are loaded.
//
//	config ──▶ Registry  (specialist, adapter) declared?     immutable, swapped whole on reload
//	engines ─▶ Residency (host, adapter) loaded right now?   changes all the time, read without a lock
//
// Invariants:
//
//  1. A Registry never changes. Its answers come in the order of declaration.
//  2. A Residency holds at most its two bounds: adapters in all, and adapters on one host.
//  3. A reader of a Residency sees the picture of one moment and never waits for a writer.
//  4. Residency is a hint: an engine may load and unload behind our back. It is no permission to use an adapter.
package adapters
