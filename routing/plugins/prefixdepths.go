package plugins

import (
	"context"
	"math"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
)

// Index answers which replicas hold how much of a chain. Safe for concurrent use.
type Index interface {
	// Depths sets out[h], for each h in among, to the number of leading blocks of chain that h holds.
	Depths(chain []kvpool.BlockHash, among index.HostBitmap, out *[index.MaxHosts]uint16)
	// Stale returns the replicas of which the index may be wrong.
	Stale() index.HostBitmap
}

// Guesser is an Index whose answers depend on the time, and that need not ask for it. It knows what to make of stale
// replicas.
type Guesser interface {
	DepthsAt(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time, out *[index.MaxHosts]uint16)
}

// prefixDepths writes, for each candidate, how much of the chain it holds. Replicas of which a plain Index may be wrong
// count as holding nothing: they are judged by their load.
type prefixDepths struct {
	named
	index   Index
	guesser Guesser // index, where it is one; else nil
}

func newPrefixDepths(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		p.Need("a block index", d.Index != nil)
		guesser, _ := d.Index.(Guesser)
		return &prefixDepths{named{"prefix-depths", reads(BlockHashes, routing.Optional(Fleet))}, d.Index, guesser}
	}
}

// Writes implements routing.Preparer.
func (*prefixDepths) Writes() []routing.AnySlot { return reads(Depths) }

// Prepare implements routing.Preparer. It never fails.
func (p *prefixDepths) Prepare(_ context.Context, c *routing.Context) error {
	depths := Depths.Spare(c)
	if depths == nil {
		depths = new([index.MaxHosts]uint16)
	}
	candidates := c.View().Candidates()
	for i, w := range candidates { // the depths of others are not read
		if w != 0 {
			clear(depths[i<<6:][:64])
		}
	}
	if chain := shorten(BlockHashes.Get(c.View())); len(chain) > 0 {
		if p.guesser != nil {
			p.guesser.DepthsAt(chain, candidates, c.View().Facts().Now, depths)
		} else {
			p.index.Depths(chain, candidates.AndNot(p.index.Stale()), depths)
		}
		gone := Fleet.Get(c.View()).Departed() // what their slots hold is another's
		for h := range gone.All() {
			depths[h] = 0
		}
	}
	Depths.Put(c, depths)
	return nil
}

// shorten returns as much of chain as a depth can tell.
func shorten(chain []kvpool.BlockHash) []kvpool.BlockHash {
	return chain[:min(len(chain), math.MaxUint16)]
}
