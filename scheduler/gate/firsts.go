package gate

import "octet/scheduler"

// First is how long a request took from its admission to its first token, measured at one gateway for all.
type First struct {
	Uncached int // tokens of its prompt that were to be computed
	Others   int // tokens of other prompts that were, as it was admitted
	Took     scheduler.Time
	Expected scheduler.Time // as it was admitted; 0 is unknown
	Trial    bool           // it was admitted as if nothing had been measured
}

// firsts is what is told of what was measured here: the last one alone. A gateway asks a few times a second, and of
// many measurements that lie closely together one tells enough.
type firsts struct {
	last First
	news bool // it was not told
}

// LastFirst returns the last first token that was measured here; false if none was since the last call.
func (g *Gate) LastFirst() (First, bool) {
	g.lock(g.now())
	defer g.unlock()
	return g.model.LastFirst()
}

// LastFirst is as Gate.LastFirst.
func (m *Model) LastFirst() (First, bool) {
	f := &m.engine.rates.firsts
	news := f.news
	f.news = false
	return f.last, news
}

// FirstElsewhere counts what another gateway has measured of the engine as if it had been measured here.
func (g *Gate) FirstElsewhere(f First) {
	now := g.lock(g.now())
	defer g.unlock()
	g.model.FirstElsewhere(&f, now)
}

// FirstElsewhere is as Gate.FirstElsewhere. No request starts by it: estimates bear on deadlines alone.
func (m *Model) FirstElsewhere(f *First, now scheduler.Time) {
	m.engine.rates.learn(f, now)
}
