package runs

import (
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

func TestTheTierMapIsNotReadWhereAllIsOnTheGPU(t *testing.T) {
	chain := indextest.Chain(16, "")
	x, err := New(index.Config{Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	for h := range index.HostID(2) {
		if err := x.Admit(h); err != nil {
			t.Fatal(err)
		}
		indextest.Apply(t, x, h, 1, index.Op{Kind: index.Store, Blocks: chain, RootKnown: true})
	}
	indextest.Apply(t, x, 1, 2, index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[:3], RootKnown: true},
		index.Op{Kind: index.Remove, Tier: index.GPU, Blocks: chain[1:3]})
	x.hosts[0].mu.Lock() // a query that looks into a tier map hangs
	x.hosts[0].tiersMu.Lock()
	if got := x.InTiers(0, chain, 10, 1); got != [index.Tiers]int{10, 0, 0} || x.Stats().Hints != 0 {
		t.Errorf("%v, %d tier maps read", got, x.Stats().Hints)
	}
	x.hosts[0].tiersMu.Unlock()
	x.hosts[0].mu.Unlock()
	if got := x.InTiers(1, chain, 10, 1); got != [index.Tiers]int{8, 2, 0} || x.Stats().Hints != 1 {
		t.Errorf("%v, %d tier maps read", got, x.Stats().Hints)
	}
	if got := x.InTiers(index.MaxHosts, chain, 10, 1); got != [index.Tiers]int{} {
		t.Errorf("a slot that there is not holds %v", got)
	}
}

// BenchmarkInTiers is what a winner's cache hint costs: a chain of 512 that was stored in one go, all of it on the GPU
// or, of every eighth block, a copy elsewhere too.
func BenchmarkInTiers(b *testing.B) {
	for _, slower := range []bool{false, true} {
		b.Run(map[bool]string{false: "gpu", true: "tiers"}[slower], func(b *testing.B) {
			chain := indextest.Chain(512, "")
			x, err := New(index.Config{Hosts: 1})
			if err != nil || x.Admit(0) != nil {
				b.Fatal(err)
			}
			ops := []index.Op{{Kind: index.Store, Blocks: chain, RootKnown: true}}
			for i := 0; slower && i < len(chain); i += 8 {
				ops = append(ops, index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[i : i+1]})
			}
			if out := x.Apply(index.Batch{Epoch: 1, Seq: 1, Ops: ops}); out != index.Applied {
				b.Fatal(out)
			}
			for b.Loop() {
				x.InTiers(0, chain, len(chain), 1)
			}
		})
	}
}
