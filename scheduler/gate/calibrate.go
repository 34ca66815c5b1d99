package gate

import "octet/kvpool"

// Observed is what an engine says of itself at one moment. The Has fields say which of it is there.
type Observed struct {
	KVUsage                           float64 // used part of its KV cache, 0…1
	Running, Waiting                  int     // requests, of all gateways
	Preemptions                       uint64  // since it started
	MaxAdapters                       int     // that it takes at once; 0 if it does not say
	HasUsage, HasLoad, HasPreemptions bool

	// what this gateway had there as the engine was asked: what has ended since is no other gateway's; nil if it is as
	// now
	Before *Own
}

// Calibration is how the model stands beside what the engine says.
type Calibration struct {
	Offered    uint64  // requests that were asked for; beside Stats.Admitted it shows a specialist that starves
	Withheld   int     // blocks, of Stats.Reserved: held by other gateways, or a margin for what the model has wrong
	ModelError float64 // part of the pool by which the model and the engine's own report differ, smoothed
	CacheError float64 // part of a prompt by which predicted and delivered cached tokens differ, smoothed
}

// calibration holds the model against what the engine says.
type calibration struct {
	off         float64 // part of the pool by which the model is wrong, smoothed
	cacheError  float64 // part of a prompt by which predicted and delivered cached tokens differ, smoothed
	margin      float64 // blocks
	others      int     // blocks that are other gateways', as the engine's report shows
	preemptions uint64
	seen        bool
}

const (
	errorShare  = 8  // a further error moves the smoothed one by one part in so many
	marginShare = 4  // a margin rises towards an error by one part in so many, and is one part of the pool at most
	marginDecay = 8  // … and falls by one part in so many without one
	preempted   = 32 // an engine that had to preempt holds one part in so many more than was thought
)

// compare updates the error and the margin, and returns the blocks that other gateways hold. An engine that does not
// tell its usage lets the margin fade.
func (c *calibration) compare(o *Observed, b *ledger, sequences int) (others int) {
	if !o.HasUsage {
		c.margin -= c.margin / marginDecay
		return 0
	}
	total := float64(b.pool.Total())
	used := min(max(o.KVUsage, 0), 1) * total
	least := float64(b.pool.Used() - b.withheld.Len())
	most := least
	if o.Before != nil { // the moment that the engine speaks of lies between the two
		least, most = min(least, float64(o.Before.Blocks)), max(most, float64(o.Before.Blocks))
		sequences = max(sequences, o.Before.Sequences)
	}
	beyond := used - min(max(used, least), most)
	if o.HasLoad && o.Running+o.Waiting > sequences && beyond > 0 {
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

// cached compares how many tokens of l's prompt the engine had cached with what the pool had predicted.
func (c *calibration) cached(l *Lease, tokens int, pool *kvpool.Pool) {
	if pool == nil || l.shape.prompt == 0 || l.shape.further.Prompts > 0 { // of further prompts nothing was predicted
		return
	}
	gap := float64(tokens-l.reused*pool.BlockSize()) / float64(l.shape.prompt)
	c.cacheError += (min(1, max(gap, -gap)) - c.cacheError) / errorShare
}
