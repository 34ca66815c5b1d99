// Package adapters knows where the LoRA adapters of the ensemble are loaded. Which exist is the configuration's to say.
//
//	engines ─▶ Residency (host, adapter) loaded right now?   changes all the time, read without a lock
//
// Invariants:
//
//  1. A Residency holds at most its two bounds: adapters in all, and adapters on one host.
//  2. A reader of a Residency sees the picture of one moment and never waits for a writer.
//  3. Residency is a hint: an engine may load and unload behind our back. It is no permission to use an adapter.
package adapters
