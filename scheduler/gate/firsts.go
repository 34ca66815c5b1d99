package gate

import "octet/scheduler"

// First is how long a request took from its admission to its first token, measured at one gateway for all.
type First struct {
	Uncached int // tokens of its prompt that were to be computed
	Others   int // tokens of other prompts that were, as it was admitted
	Took     scheduler.Time
	Trial    bool // it was admitted as if nothing had been measured
}

// mostFirsts is how many measurements are kept for other gateways, the latest ones: one that asks now and then counts
// what came in between, and of a crowd of them a few tell enough.
const mostFirsts = 2

// firsts are what was measured here since they were taken last.
type firsts struct {
	kept [mostFirsts]First
	seen int // the last of them are kept
}

func (f *firsts) add(m First) {
	f.kept[f.seen%mostFirsts] = m
	f.seen++
}

// Firsts appends the first tokens that were measured here since the last call to list, oldest first: the last
// mostFirsts of them.
func (g *Gate) Firsts(list []First) []First {
	g.lock(g.now())
	defer g.unlock()
	return g.model.Firsts(list)
}

// Firsts is as Gate.Firsts.
func (m *Model) Firsts(list []First) []First {
	f := &m.engine.rates.firsts
	for i := max(0, f.seen-mostFirsts); i < f.seen; i++ {
		list = append(list, f.kept[i%mostFirsts])
	}
	f.seen = 0
	return list
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
