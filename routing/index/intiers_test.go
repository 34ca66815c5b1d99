package index_test

import (
	"octet/kvpool"
	"octet/routing/index"
)

// compareTiers holds an index's counts against the model's facts.
func (r *rig) compareTiers(chain []kvpool.BlockHash) {
	for h := range index.HostID(modelHosts) {
		depth, every := r.roll(len(chain)+2), 1+r.roll(3)
		var want [index.Tiers]int
		tier := index.GPU
		for i, b := range chain[:min(depth, int(r.m.depth(h, chain)))] {
			if i%every == 0 {
				tier = r.m.fastest(h, b)
			}
			want[tier]++
		}
		if got := r.x.InTiers(h, chain, depth, every); got != want {
			r.t.Fatalf("host %d holds %v of the first %d of %x by each %d-th, want %v", h, got, depth, chain, every,
				want)
		}
		if want[index.CPU]+want[index.SSD] > 0 && !r.x.BelowGPU().Has(h) {
			r.t.Fatalf("host %d has %v, and is in the GPU alone", h, want)
		}
	}
}

// fastest returns the fastest tier in which h has b, which it holds.
func (m *model) fastest(h index.HostID, b kvpool.BlockHash) (tier index.Tier) {
	for !m.hosts[h].held[place{b, tier}] {
		tier++
	}
	return tier
}
