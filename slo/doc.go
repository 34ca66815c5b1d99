// Package slo publishes what each specialist has lately delivered, how fast and how well, and decides from it
// which ones stand back and which are under load.
//
//	Gaps ──Flush──▶ ┐
//	ObserveTTFT     │ window: a ring of sketches ─┐                         ┌─▶ Headers: X-SLO-… of every answer
//	ObserveAdmission├▶                            ├─ merge, every 250 ms ──▶┤
//	ObserveEnd      │ tally: a ring of counters  ─┘                         └─▶ Report: GET /v1/slo/{specialist}
//	ObserveDeadline │
//	Outcome, …OfKind┘
//
//	Knobs: the thresholds in force, each a default of the config that an operator can override for a time
//
// Invariants:
//
//  1. A Board is one specialist's. Nothing here adds two specialists up, and no latency of the ensemble exists.
//  2. A value with fewer samples than the configured minimum is absent: never zero, never the last one known.
//  3. Nothing older than the window counts; between nine tenths of the window and all of it does.
//  4. A quantile is within 1 % of the exact one, up to a day; an observation below a microsecond counts as one.
//  5. The path of a token takes a lock once in 32 tokens and allocates nothing. Fetching Headers takes none, but for
//     the one caller in 250 ms that prepares them.
//  6. Time comes from the injected clock alone; there is no goroutine.
package slo
