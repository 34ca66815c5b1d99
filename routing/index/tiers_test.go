package index

import (
	"slices"
	"testing"
)

// MOD2-44
func TestBlockInTwoTiersSurvivesEvictionFromOne(t *testing.T) {
	eachKind(t, blockInTwoTiersSurvivesEvictionFromOne)
}

func blockInTwoTiersSurvivesEvictionFromOne(t *testing.T, make func(Config) (subject, error)) {
	chain := chainOf(4, "")
	x := seeded(t, make, chain, 4)
	apply(t, x, 0, 2, Op{Kind: Store, Tier: CPU, Blocks: chain[:3], RootKnown: true},
		Op{Kind: Remove, Tier: GPU, Blocks: chain})
	if depths, _ := ask(x, chain, 1); depths[0] != 3 {
		t.Fatalf("depth %d after the GPU copies went, want 3", depths[0])
	}
	apply(t, x, 0, 3, Op{Kind: Remove, Tier: SSD, Blocks: chain}, Op{Kind: Remove, Tier: CPU, Blocks: chain[2:]})
	if depths, _ := ask(x, chain, 1); depths[0] != 2 {
		t.Fatalf("depth %d after the last copy of block 2 went, want 2", depths[0])
	}
}

// MOD2-40, MOD2-41
func TestHintNamesTheFastestCopyOfEachLeadingBlock(t *testing.T) {
	eachKind(t, hintNamesTheFastestCopyOfEachLeadingBlock)
}

func hintNamesTheFastestCopyOfEachLeadingBlock(t *testing.T, make func(Config) (subject, error)) {
	chain := chainOf(5, "")
	x := seeded(t, make, chain, 1)
	at := []Extent{{0, 4096, 1}, {4096, 4096, 1}, {8192, 4096, 2}}
	apply(t, x, 0, 2,
		Op{Kind: Store, Tier: SSD, Blocks: chain[:3], RootKnown: true, Extents: at},
		Op{Kind: Store, Tier: CPU, Blocks: chain[1:2], Parent: chain[0], HasParent: true, Extents: []Extent{{7, 8, 9}}},
		Op{Kind: Store, Tier: GPU, Blocks: chain[4:], Parent: chain[3], HasParent: true})
	want := []Location{{Block: chain[0], Tier: GPU}, {chain[1], CPU, Extent{7, 8, 9}}, {chain[2], SSD, at[2]}}
	if got := x.Hint(0, chain, 5, nil); !slices.Equal(got, want) {
		t.Fatalf("hint %v, want %v", got, want)
	}
	for depth, n := range map[int]int{-1: 0, 0: 0, 2: 2, 99: 3} {
		if got := x.Hint(0, chain, depth, nil); len(got) != n {
			t.Fatalf("hint of depth %d has %d blocks, want %d", depth, len(got), n)
		}
	}
	apply(t, x, 0, 3, Op{Kind: Remove, Tier: CPU, Blocks: chain[1:2]})
	if got := x.Hint(0, chain, 2, nil)[1]; got != (Location{chain[1], SSD, at[1]}) {
		t.Fatalf("after the CPU copy went: %v", got)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// MOD2-42
func TestTierMapsAreReadForTheWinnerOnly(t *testing.T) {
	chain := chainOf(16, "")
	x := newIndex(t, chain, 16, 8, 4)
	x.hosts[0].mu.Lock() // a query that looked into a tier map would hang
	x.hosts[1].mu.Lock()
	var out [MaxHosts]uint16
	x.Depths(chain, HostSet(0, 1, 2), &out)
	best := Rank(&out, HostSet(0, 1, 2), nil)[0]
	x.hosts[0].mu.Unlock()
	x.hosts[1].mu.Unlock()
	if got := x.Stats().Hints; got != 0 {
		t.Fatalf("%d tier maps read by a query", got)
	}
	x.Hint(best.Host, chain, int(best.Depth), nil)
	if got := x.Stats().Hints; got != 1 {
		t.Fatalf("%d tier maps read for one winner", got)
	}
}

func TestBlockThatClaimsToFollowItselfStaysLoose(t *testing.T) {
	chain := chainOf(1, "")
	x := newIndex(t, nil, 0)
	apply(t, x, 0, 2, Op{Kind: Store, Blocks: chain, Parent: chain[0], HasParent: true})
	if err := x.Check(); err != nil || x.Host(0).Detached != 1 {
		t.Fatalf("%v, %d detached", err, x.Host(0).Detached)
	}
	apply(t, x, 0, 3, Op{Kind: Remove, Blocks: chain})
	if err := x.Check(); err != nil || x.Host(0).Detached != 0 || len(x.hosts[0].tiers.blocks) != 0 {
		t.Fatalf("%v, %+v", err, x.Host(0))
	}
}
