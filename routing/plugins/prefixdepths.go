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

// Guesses remembers which prompts were routed where. Safe for concurrent use.
type Guesses interface {
	// Routed notes that a prompt was sent to a replica.
	Routed(h index.HostID, chain []kvpool.BlockHash, now time.Time)
	// Depths sets out[h], for each h in among, to the number of leading blocks of chain that h is guessed to hold.
	Depths(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time, out *[index.MaxHosts]uint16)
	// Extend raises out[h], for each h in among, by what h is guessed to hold beyond it.
	Extend(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time, out *[index.MaxHosts]uint16)
}

// prefixDepths writes, for each candidate, how much of the chain it holds: by the index, where the index can be right about it,
// and beyond that by what was routed to it lately. Without such guesses, replicas of which the index may be wrong count as
// holding nothing: they are judged by their load.
type prefixDepths struct {
	named
	index   Index
	guesses Guesses // nil: the index alone
}

// newPrefixDepths: guess (default true) adds what was routed where, for engines without events and until events arrive.
func newPrefixDepths(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		p.Need("a block index", d.Index != nil)
		plugin := prefixDepths{named{"prefix-depths", reads(BlockHashes)}, d.Index, nil}
		if p.Bool("guess", true) {
			plugin.guesses = d.Guesses
		}
		return plugin
	}
}

// Writes implements routing.Preparer.
func (prefixDepths) Writes() []routing.AnySlot { return reads(Depths) }

// Prepare implements routing.Preparer. It never fails.
func (p prefixDepths) Prepare(_ context.Context, c *routing.Context) error {
	depths := spareDepths(c)
	v := c.View()
	if chain := shorten(BlockHashes.Get(v)); len(chain) > 0 {
		p.index.Depths(chain, v.Candidates().AndNot(p.index.Stale()), depths)
		if p.guesses != nil {
			p.guesses.Extend(chain, v.Candidates(), v.Facts().Now, depths)
		}
	}
	Depths.Put(c, depths)
	return nil
}

// Learn implements routing.Learner.
func (p prefixDepths) Learn(v routing.View, picked index.HostID) {
	if chain := BlockHashes.Get(v); p.guesses != nil && len(chain) > 0 {
		p.guesses.Routed(picked, chain, v.Facts().Now)
	}
}

// spareDepths returns zeroes to fill and put into Depths.
func spareDepths(c *routing.Context) *[index.MaxHosts]uint16 {
	depths := Depths.Spare(c)
	if depths == nil {
		return new([index.MaxHosts]uint16)
	}
	*depths = [index.MaxHosts]uint16{}
	return depths
}

// shorten returns as much of chain as a depth can tell.
func shorten(chain []kvpool.BlockHash) []kvpool.BlockHash {
	return chain[:min(len(chain), math.MaxUint16)]
}
