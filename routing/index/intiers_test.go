package index_test

import (
	"octet/kvpool"
	"octet/routing/index"
)

// compareTiers holds an index's counts against the model's facts.
func (r *rig) compareTiers(chain []kvpool.BlockHash) {
	for h := range index.HostID(modelHosts) {
		depth := r.roll(len(chain) + 2)
		var want [index.Tiers]int
		for _, b := range chain[:min(depth, int(r.m.depth(h, chain)))] {
			tier := index.GPU
			for !r.m.hosts[h].held[place{b, tier}] {
				tier++
			}
			want[tier]++
		}
		if got := r.x.InTiers(h, chain, depth); got != want {
			r.t.Fatalf("host %d holds %v of the first %d of %x, want %v", h, got, depth, chain, want)
		}
	}
}
