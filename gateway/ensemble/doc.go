// Package ensemble is what one config generation serves: a Runtime of specialists and their replicas, its limits and
// settings. The program builds it from the configuration, seals it and hands it to the gateway.
//
//	Runtime ─┬─ Specialist ── Pipeline (plugins around a decision), Insight (what caches hold), Board, Load
//	         ├─ Replica ── Client (the engine), Fleet (breaker, load), Gate (admission)
//	         └─ Tenants, Limits, Shadow, Probation, Stickiness, Judges
//
// Invariants:
//
//  1. A Runtime and its Specialists belong to one generation and do not change once they are served. Replicas are
//     shared between generations.
//  2. A request keeps the Runtime that admitted it to its end, or until that has no replica left for it.
package ensemble
