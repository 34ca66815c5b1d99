package reference

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-07
func TestOneDepthCostsOneBinarySearch(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 31, 32, 33, 100, 1024} {
		chain, bound := indextest.Chain(n, ""), bits.Len(uint(n-1))+1 // ⌈log2 n⌉ + 1
		for depth := 0; depth <= n; depth += 1 + n/40 {
			x := indextest.Seeded(t, New, chain, depth, depth, depth)
			if got, lookups := indextest.Ask(x, chain, 3); got[2] != uint16(depth) || lookups > bound {
				t.Fatalf("depth %d of %d: found %d for %d lookups, want at most %d", depth, n, got[2], lookups, bound)
			}
		}
	}
}

// MOD2-03, MOD2-07
func TestAsManyDepthsAsReplicasStayWithinKLogN(t *testing.T) {
	chain := indextest.Chain(1024, "")
	depths := make([]int, 64)
	for h := range depths {
		depths[h] = (h + 1) * 16
	}
	x := indextest.Seeded(t, New, chain, depths...)
	got, lookups := indextest.Ask(x, chain, len(depths))
	for h := range depths {
		if int(got[h]) != depths[h] {
			t.Fatalf("host %d: depth %d, want %d", h, got[h], depths[h])
		}
	}
	if bound := 64 * 10; lookups > bound {
		t.Fatalf("%d lookups, want at most %d", lookups, bound)
	}
	chain = chain[:32]
	if _, lookups := indextest.Ask(x, chain, len(depths)); lookups > len(chain) {
		t.Fatalf("%d lookups for 32 blocks on 64 replicas, want at most 32, not 2,048", lookups)
	}
}

// MOD2-08
func TestTwiceTheReplicasCostNoMoreLookups(t *testing.T) {
	chain := indextest.Chain(200, "")
	depths := []int{10, 150, 77, 0, 200}
	few := indextest.Seeded(t, New, chain, depths...)
	many := indextest.Seeded(t, New, chain, slices.Repeat(depths, 40)...)
	_, a := indextest.Ask(few, chain, 5)
	if got, b := indextest.Ask(many, chain, 200); a != b || got[196] != 150 {
		t.Fatalf("%d lookups for 5 replicas, %d for 200", a, b)
	}
}

func TestBlocksOfUnknownPlaceCountButAreScanned(t *testing.T) {
	chain := indextest.Chain(32, "")
	x := indextest.Seeded(t, New, chain, 0)
	indextest.Apply(t, x, 0, 2,
		index.Op{Kind: index.Store, Blocks: []kvpool.BlockHash{chain[2], chain[0], chain[1], chain[20]}})
	if depths, _ := indextest.Ask(x, chain, 1); depths[0] != 3 {
		t.Fatalf("depth %d, want 3", depths[0])
	}
	indextest.Apply(t, x, 0, 3, index.Op{Kind: index.Store, Blocks: chain, RootKnown: true})
	if depths, lookups := indextest.Ask(x, chain, 1); depths[0] != 32 || lookups > 6 || x.Host(0).Detached != 0 {
		t.Fatalf("placed: depth %d for %d lookups, %d detached", depths[0], lookups, x.Host(0).Detached)
	}
}

// Most replicas hold nothing of a prompt: they cost one lookup and not a search of their own.
func TestReplicasThatHoldNothingCostOneLookupMore(t *testing.T) {
	chain := indextest.Chain(1024, "")
	_, full := indextest.Ask(indextest.Seeded(t, New, chain, 1024), chain, 1)
	if _, lookups := indextest.Ask(indextest.Seeded(t, New, chain, 1024, 0, 0), chain, 3); lookups != full+1 {
		t.Fatalf("%d lookups with empty replicas, %d without", lookups, full)
	}
	if _, lookups := indextest.Ask(indextest.Seeded(t, New, chain, 0, 0), chain, 2); lookups != 2 {
		t.Fatalf("%d lookups to find nothing, want 2", lookups)
	}
}

// Depths near both ends make groups wait at every level of the search.
func TestLongestChainWithDepthsAtEveryScale(t *testing.T) {
	chain := indextest.Chain(math.MaxUint16, "")
	x := indextest.Seeded(t, New, nil)
	var want []uint16
	for bit := uint16(1); bit != 0; bit <<= 1 {
		want = append(want, bit-1, bit, bit+1, math.MaxUint16-bit+1, math.MaxUint16-bit)
	}
	for i, b := range chain { // into the shards alone: the tier maps would take seconds
		var held index.HostBitmap
		for h, depth := range want {
			if i < int(depth) {
				held.Set(index.HostID(h))
			}
		}
		x.shards[shardOf(b)].blocks[b] = held
	}
	for h := range want {
		if err := x.Admit(index.HostID(h)); err != nil {
			t.Fatal(err)
		}
	}
	if got, lookups := indextest.Ask(x, chain, len(want)); !slices.Equal(got, want) || lookups > len(want)*16 {
		t.Fatalf("%d lookups, depths %v, want %v", lookups, got, want)
	}
}
