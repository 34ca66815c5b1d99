package events

import "octet/kvpool"

// registerNamed maps the blocks of e by their names alone, which the prompts' chains are made of: tokens are not
// needed, and a block with an unknown parent is as good as any. Names of blocks of another size are those of
// other chains.
//
// What neither begins a chain nor names a parent, as offload tiers tell it, is in no order: each block stands for
// itself.
func (m *mapping) registerNamed(e *Event, to Target, hasher kvpool.Hasher) {
	if e.BlockSize != 0 && e.BlockSize != to.BlockSize {
		m.tally.unmappable.Add(uint64(len(e.Hashes)))
		m.odd = true
		for _, h := range e.Hashes {
			m.arrive(h, e.Tier, content{})
		}
		return
	}
	within := hasher.Root(to.Specialist, "", "")
	chain := make([]kvpool.BlockHash, 1, 1+len(e.Hashes))
	chain[0] = within
	if !e.Root {
		chain[0] = kvpool.Named(within, e.Parent)
	}
	loose := !e.Root && e.Parent == 0
	for i, h := range e.Hashes {
		chain = append(chain, kvpool.Named(within, h))
		m.arrive(h, e.Tier, content{chain: chain[i : i+2 : i+2], first: e.Root && i == 0, loose: loose})
	}
}
