package index_test

import (
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-44
func TestBlockInTwoTiersSurvivesEvictionFromOne(t *testing.T) {
	eachKind(t, blockInTwoTiersSurvivesEvictionFromOne)
}

//nolint:lll // raw text that cannot be broken
func blockInTwoTiersSurvivesEvictionFromOne(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(4, "")
	x := indextest.Seeded(t, build, chain, 4)
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[:3], RootKnown: true},
		index.Op{Kind: index.Remove, Tier: index.GPU, Blocks: chain})
	if depths, _ := indextest.Ask(x, chain, 1); depths[0] != 3 {
		t.Fatalf("depth %d after the GPU copies went, want 3", depths[0])
	}
	indextest.Apply(t, x, 0, 3, index.Op{Kind: index.Remove, Tier: index.SSD, Blocks: chain}, index.Op{Kind: index.Remove, Tier: index.CPU, Blocks: chain[2:]})
	if depths, _ := indextest.Ask(x, chain, 1); depths[0] != 2 {
		t.Fatalf("depth %d after the last copy of block 2 went, want 2", depths[0])
	}
}

// MOD2-40, MOD2-41
func TestTiersAreTheFastestCopyOfEachLeadingBlock(t *testing.T) {
	eachKind(t, tiersAreTheFastestCopyOfEachLeadingBlock)
}

func tiersAreTheFastestCopyOfEachLeadingBlock(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(5, "")
	x := indextest.Seeded(t, build, chain, 1)
	indextest.Apply(t, x, 0, 2,
		index.Op{Kind: index.Store, Tier: index.SSD, Blocks: chain[:3], RootKnown: true},
		index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[1:2], Parent: chain[0], HasParent: true},
		index.Op{Kind: index.Store, Tier: index.GPU, Blocks: chain[4:], Parent: chain[3], HasParent: true})
	for depth, want := range map[int][index.Tiers]int{
		-1: {}, 0: {}, 1: {1, 0, 0}, 2: {1, 1, 0}, 5: {1, 1, 1}, 99: {1, 1, 1},
	} {
		if got := x.InTiers(0, chain, depth, 1); got != want {
			t.Fatalf("of depth %d %v, want %v", depth, got, want)
		}
	}
	indextest.Apply(t, x, 0, 3, index.Op{Kind: index.Remove, Tier: index.CPU, Blocks: chain[1:2]})
	if got, want := x.InTiers(0, chain, 2, 1), [index.Tiers]int{1, 0, 1}; got != want {
		t.Fatalf("after the CPU copy went: %v, want %v", got, want)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}
