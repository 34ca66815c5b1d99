package belief

import (
	"sync/atomic"

	"octet/kvpool"
	"octet/routing/index"
)

// grain is how many of the index's blocks one of an engine's is. The engine keeps and serves whole blocks of its own.
type grain struct {
	told atomic.Uint32 // by the engine's metrics; 0 if they do not tell
	seen atomic.Uint32 // the largest of its events, in this life; 0 before the first
}

func (g *grain) blocks() int { return int(max(g.told.Load(), g.seen.Load(), 1)) }

// Grain notes of how many of the index's blocks one of a replica's engine's is, as the engine tells; 0 is not told.
func (b *Beliefs) Grain(id index.HostID, blocks int) {
	if int(id) >= index.MaxHosts || blocks < 0 || b.grains[id].told.Load() == uint32(blocks) {
		return
	}
	b.grains[id].told.Store(uint32(blocks))
	b.sort(id)
}

// GrainOf returns how many of the index's blocks one of a replica's engine's is, at least 1.
func (b *Beliefs) GrainOf(id index.HostID) int {
	if b.coarse.Empty() || int(id) >= index.MaxHosts {
		return 1
	}
	return b.grains[id].blocks()
}

// sort puts a replica among those of large blocks, or takes it out.
func (b *Beliefs) sort(id index.HostID) {
	if b.grains[id].blocks() > 1 {
		b.coarse.Set(id)
	} else {
		b.coarse.Clear(id)
	}
}

// measure takes the grain of a batch's events. It comes before the batch's epoch is noted.
func (b *Beliefs) measure(batch *index.Batch) {
	if int(batch.Host) >= index.MaxHosts {
		return
	}
	seen := &b.grains[batch.Host].seen
	is := max(seen.Load(), uint32(batch.Grain))
	if b.another(batch) {
		is = uint32(batch.Grain)
	}
	if seen.Load() != is {
		seen.Store(is)
		b.sort(batch.Host)
	}
}

// kept returns the part of a chain that an engine keeps: its own whole blocks.
func (b *Beliefs) kept(id index.HostID, chain []kvpool.BlockHash) []kvpool.BlockHash {
	return chain[:whole(len(chain), b.GrainOf(id))]
}

// round takes the depths of engines with large blocks down to what they serve.
func (b *Beliefs) round(among index.HostBitmap, out *[index.MaxHosts]uint16) {
	if b.coarse.Empty() {
		return
	}
	for id := range among.And(b.coarse.Load()).All() {
		out[id] = uint16(whole(int(out[id]), b.grains[id].blocks()))
	}
}

func whole(blocks, grain int) int { return blocks - blocks%grain }
