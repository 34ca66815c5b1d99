package gate

import "octet/kvpool"

// Observed is what an engine says of itself at one moment. What it does not say it does not have.
type Observed struct {
	KVUsage                           float64 // used part of its KV cache, 0…1
	Running, Waiting                  int     // requests, whoever sent them
	Preemptions                       uint64  // since it started
	HasUsage, HasLoad, HasPreemptions bool
}

// Calibration is how the model stands beside what the engine says.
type Calibration struct {
	Offered    uint64  // requests that were asked for; beside Stats.Admitted it shows a specialist that starves
	Withheld   int     // blocks, of Stats.Reserved: held by other gateways, or a margin for what the model has wrong
	ModelError float64 // part of the pool by which the model and the engine's own report differ, smoothed
	CacheError float64 // part of a prompt by which predicted and delivered cached tokens differ, smoothed
}

// Calibration returns the present picture.
func (g *Gate) Calibration() Calibration {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	c := &g.calibration
	return Calibration{Offered: g.offered, Withheld: c.withheld.Len(), ModelError: c.off, CacheError: c.cacheError}
}

// calibration holds the model against what the engine says.
type calibration struct {
	withheld    kvpool.Table // blocks that are free in the model and not believed to be
	off         float64      // part of the pool by which the model is wrong, smoothed
	cacheError  float64      // part of a prompt by which predicted and delivered cached tokens differ, smoothed
	margin      float64      // blocks
	preemptions uint64
	seen        bool
}

const (
	errorShare  = 8  // a further error moves the smoothed one by one part in so many
	marginShare = 4  // a margin rises towards an error by one part in so many, and is one part of the pool at most
	marginDecay = 8  // … and falls by one part in so many where there is none
	preempted   = 32 // an engine that had to preempt holds one part in so many more than was thought
)

// Reconcile corrects the model by what the engine says. What it holds beyond the model is put down to other gateways
// where it has more requests than ours, and else to the model: that is an error, and a margin follows it, a quarter of
// the pool at most, which fades when the error has gone. Both are withheld: they count as reserved, nobody is admitted
// into them, and growth may use them before it goes into debt. An engine that does not tell its usage is believed
// nothing.
func (g *Gate) Reconcile(o Observed) {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if g.pool == nil {
		return
	}
	others := 0
	if o.HasUsage {
		others = g.compare(&o)
	} else {
		g.calibration.margin -= g.calibration.margin / marginDecay
	}
	g.withhold(others + int(g.calibration.margin))
	g.letIn(g.elapsed())
}

// compare updates the error and the margin, and returns the blocks that other gateways hold.
func (g *Gate) compare(o *Observed) (others int) {
	c, total := &g.calibration, float64(g.pool.Total())
	beyond := min(max(o.KVUsage, 0), 1)*total - float64(g.pool.Used()-c.withheld.Len())
	if o.HasLoad && o.Running+o.Waiting > g.sequences && beyond > 0 {
		others, beyond = int(beyond), 0
	}
	c.off += (max(beyond, -beyond)/total - c.off) / errorShare
	if beyond > c.margin {
		c.margin += (beyond - c.margin) / marginShare
	} else {
		c.margin -= (c.margin - max(beyond, 0)) / marginDecay
	}
	if o.HasPreemptions {
		if c.seen && o.Preemptions > c.preemptions {
			c.margin += total / preempted
		}
		c.preemptions, c.seen = o.Preemptions, true
	}
	c.margin = min(c.margin, total/marginShare)
	if o.KVUsage == 0 || c.margin < 1 {
		c.margin = 0
	}
	return others
}

// withhold has n blocks withheld, or as many as are free. Caller holds gateMu.
func (g *Gate) withhold(n int) {
	t := &g.calibration.withheld
	if n < t.Len() {
		g.pool.Trim(t, n)
		g.payDebts()
	}
	if more := min(n-t.Len(), g.pool.Free()); more > 0 {
		g.pool.Extend(t, t.Len()+more)
	}
}

// lend takes back up to n withheld blocks for one who grows. Caller holds gateMu.
func (g *Gate) lend(n int) {
	t := &g.calibration.withheld
	if take := min(n, t.Len()); take > 0 {
		g.pool.Trim(t, t.Len()-take)
	}
}

// Cached says how many tokens of the prompt the engine says it had cached: it corrects the model of its prefix cache.
func (t *Ticket) Cached(tokens int) {
	g := t.gate
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if !t.released {
		t.cachedTokens(tokens)
	}
}

// cachedTokens is Cached. Caller holds gateMu.
func (t *Ticket) cachedTokens(tokens int) {
	g := t.gate
	if g.pool == nil || t.shape.prompt == 0 || t.shape.rest.Prompts > 0 { // of further prompts nothing was predicted
		return
	}
	c := &g.calibration
	gap := float64(tokens-t.reused*g.pool.BlockSize()) / float64(t.shape.prompt)
	c.cacheError += (min(1, max(gap, -gap)) - c.cacheError) / errorShare
}
