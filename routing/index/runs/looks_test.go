package runs

import (
	"fmt"
	"slices"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// stretches returns how many runs the first n blocks of chain lie in.
func (t *tree) stretches(chain []kvpool.BlockHash, n int) (runs int) {
	last := uint32(0)
	for _, b := range chain[:n] {
		if id, _ := t.find(b); id != last {
			last, runs = id, runs+1
		}
	}
	return runs
}

// MOD2-06, MOD2-07: a query looks once at each run that the deepest replica's part of the chain lies in, and once more
// where that ends before the chain does. Within a run depths cost no look.
func TestAQueryLooksOnceAtEachRun(t *testing.T) {
	most := 0
	for i, size := range [][3]int{{40, 60, 40}, {index.MaxHosts, 12, 60}, {6, 300, 20}, {30, 6, 2000}} {
		f := newFleet(t, uint64(i), size[0], size[1], size[2])
		for n := 0; n < patiently(2_000)/4; {
			n += f.step()
			c := f.chains[f.rng.IntN(len(f.chains))]
			depths, looks := indextest.Ask(f.x, c, f.hosts)
			x := f.x
			bound := x.tree.stretches(c, int(slices.Max(depths))) + 1
			if looks > min(bound, len(c)) {
				t.Fatalf("%d looks at a chain of %d, want at most %d", looks, len(c), bound)
			}
			most = max(most, looks)
		}
	}
	if most < 10 {
		t.Errorf("no chain was ever in more than %d runs: the bound was not met", most)
	}
}

// MOD2-07, MOD2-08: the usual case. Where one chain is held to K depths, a query looks at most K times, however many
// replicas there are; fewer where few are partial holders, of which a header has 14. A binary search would look K log N
// times.
func TestOneChainCostsALookForEachDepthAtMost(t *testing.T) {
	const n = 1024
	chain := indextest.Chain(n, "")
	for _, k := range []int{1, 2, 5, 14, 15, 32, 64, 128} {
		for times := 1; k*times <= 256; times *= 2 {
			depths := make([]int, 0, k*times)
			for h := range k * times {
				depths = append(depths, n*(h%k+1)/k)
			}
			got, looks := indextest.Ask(indextest.Seeded(t, New, chain, depths...), chain, len(depths))
			for h, want := range depths {
				if int(got[h]) != want {
					t.Fatalf("host %d: %d, want %d", h, got[h], want)
				}
			}
			if most := min(k, 2*len(depths)/maxPrefixes+1); looks > most {
				t.Errorf("%d looks for %d depths of %d replicas, want at most %d", looks, k, len(depths), most)
			}
		}
	}
	five := []int{10, 150, 77, 0, 200} // four depths besides none
	for times, want := range map[int]int{1: 1, 2: 1, 4: 1, 10: 4, 20: 4, 40: 4} {
		if _, looks := indextest.Ask(indextest.Seeded(t, New, chain, slices.Repeat(five, times)...), chain[:200],
			5*times); looks > want {
			t.Errorf("%d looks for %d replicas, want at most %d", looks, 5*times, want)
		}
	}
}

// MOD2-06, MOD2-07, MOD2-08: the worst case. Where each block is a run of its own a query looks at each block once,
// whatever the replicas: N looks, never more. A run tells nothing of the run before it, because there may be a hole
// between them, so no search leaves runs out.
func TestTheWorstCaseIsALookForEachBlock(t *testing.T) {
	for _, n := range []int{1, 8, 32, 200} {
		for _, hosts := range []int{1, 2, 64, 200} {
			t.Run(fmt.Sprintf("%d blocks, %d replicas", n, hosts), func(t *testing.T) {
				chain := indextest.Chain(n, "")
				x := indextest.Seeded(t, New, nil, make([]int, hosts)...)
				for h := range hosts {
					apart(t, x, index.HostID(h), chain)
				}
				depths, looks := indextest.Ask(x, chain, hosts)
				if slices.Min(depths) != uint16(n) || looks != n {
					t.Fatalf("depths %v for %d looks, want %d for as many", depths, looks, n)
				}
			})
		}
	}
}

// apart stores chain in the way that makes the most runs of it: as facts without an order.
func apart(t testing.TB, x index.Writer, h index.HostID, chain []kvpool.BlockHash) {
	op := index.Op{Kind: index.Store, Blocks: slices.Clone(chain)}
	slices.Reverse(op.Blocks)
	indextest.Apply(t, x, h, 2, op)
}

// BenchmarkIndexDepthsWorst is a query of a chain of which each block is a run of its own.
func BenchmarkIndexDepthsWorst(b *testing.B) {
	for _, n := range []int{32, 1024} {
		b.Run(fmt.Sprintf("blocks=%d", n), func(b *testing.B) {
			chain := indextest.Chain(n, "")
			x := indextest.Seeded(b, New, nil, make([]int, 64)...)
			for h := range index.HostID(64) {
				apart(b, x, h, chain)
			}
			var out [index.MaxHosts]uint16
			before, among := x.Stats().Lookups, x.Alive()
			b.ReportAllocs()
			for b.Loop() {
				x.Depths(chain, among, &out)
			}
			b.ReportMetric(float64(x.Stats().Lookups-before)/float64(b.N), "looks/op")
		})
	}
}
