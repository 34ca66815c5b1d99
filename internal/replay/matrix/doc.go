// Package matrix compares policies over traces, fleets, engines and loads, cell by cell.
//
//	traces × Design ─▶ cells ─▶ Play: a replay for each cell and policy ─▶ Table ─▶ Markdown
//
// A cell is a trace and a level of each factor. The full product of the factors is too large; a design holds, of each
// trace, the base cell and each factor alone, and as many cells more as it takes until each two levels of any two
// factors, the trace among them, are met in one cell.
//
// Invariants:
//
//  1. The same traces, Setup and policies give the same Table on any machine, however many replays run at once.
//  2. All policies of a cell play the same requests on the same fleet at the same rate.
//  3. The load of a cell is in work, not in requests: load 1 has engines that compute nothing twice busy for 0.7 of the
//     time.
package matrix
