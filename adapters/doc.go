// Package adapters owns the life of the LoRA adapters of a specialist: on which replicas each is loaded, when it is
// loaded and unloaded, and which edition of it requests are sent to.
//
//	requests ─▶ Keeper ─ Acquire, Release ─▶ Placement ─ Step ─▶ Action ─▶ Keeper ─▶ Engine (load, unload, list)
//	                                             ▲                                      │
//	                                             └────── Loaded, Unloaded, Observe ◀────┘
//	                 Keeper ─▶ Residency (host, adapter) loaded right now?   read without a lock
//
// A Placement is one specialist's: pure decisions, without a clock, a goroutine or I/O. A Keeper drives it and carries
// out what it decides. An adapter has editions: a path and a version, under a name of its own in the engines.
//
// Invariants:
//
//  1. A host never holds more adapters than its slots, loads that are under way included, but for what its engine
//     loaded by itself and what it held when its slots became fewer.
//  2. An adapter is never unloaded while a claim on it is held.
//  3. One load or unload at a time runs on a host.
//  4. On one host, no more adapters a minute are unloaded to make room than Rules.Swaps, beyond a small burst.
//  5. Each claim that waits is told exactly once: granted, or why not. It waits only where its edition can be loaded.
//  6. Each declared adapter has exactly one edition in force, and that is never one that failed to load everywhere
//     while another is loaded.
//  7. An engine that has put its model aside is told to load and unload nothing.
//  8. An edition that no host has had yet, or of which an engine has died, is loaded by one host at a time.
//  9. A reader of a Residency sees the picture of one moment and never waits for a writer.
package adapters
