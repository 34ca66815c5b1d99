package slo

import "time"

// Gaps gathers the times between one stream's tokens, so that the token path seldom takes the Board's lock. Not safe
// for concurrent use. The zero value gathers for no board and drops what it is given.
type Gaps struct {
	board *Board
	n     int
	held  [32]time.Duration
}

// Reset makes g gather for b. What was not flushed is dropped.
func (g *Gaps) Reset(b *Board) { g.board, g.n = b, 0 }

// Add counts one gap. No allocation, and no lock but once in 32 calls.
func (g *Gaps) Add(d time.Duration) {
	g.held[g.n] = d
	if g.n++; g.n == len(g.held) {
		g.Flush()
	}
}

// Flush hands what was gathered to the Board: at the end of the stream, at least.
func (g *Gaps) Flush() {
	if g.n > 0 && g.board != nil {
		g.board.ObserveITL(g.held[:g.n]...)
	}
	g.n = 0
}
