package gate

import "octet/kvpool"

// Cleared says that the engine's prefix cache is empty: it was reset, or the engine began anew. Nothing that the model
// holds for nobody is found any more, and what running requests hold is forgotten when they end, with all that is held
// for nobody then: the model may know less than the engine has, and after that never more.
func (g *Gate) Cleared() {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if g.pool == nil {
		return
	}
	for _, t := range g.tickets {
		t.outdated = true
	}
	g.forget()
	g.forecast.fresh = false
}

// forget has the content of all free blocks go. Caller holds gateMu.
func (g *Gate) forget() {
	var all kvpool.Table
	g.pool.Extend(&all, g.pool.Free())
	g.pool.Release(&all)
}
