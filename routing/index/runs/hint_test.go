package runs

import (
	"slices"
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-40, MOD2-41
//
//nolint:lll // raw text that cannot be broken
func TestHintNamesTheFastestCopyOfEachLeadingBlock(t *testing.T) {
	chain := indextest.Chain(5, "")
	x := indextest.Seeded(t, New, chain, 1)
	at := []index.Extent{{Offset: 0, Length: 4096, Device: 1}, {Offset: 4096, Length: 4096, Device: 1}, {Offset: 8192, Length: 4096, Device: 2}}
	indextest.Apply(t, x, 0, 2,
		index.Op{Kind: index.Store, Tier: index.SSD, Blocks: chain[:3], RootKnown: true, Extents: at},
		index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[1:2], Parent: chain[0], HasParent: true, Extents: []index.Extent{{Offset: 7, Length: 8, Device: 9}}},
		index.Op{Kind: index.Store, Tier: index.GPU, Blocks: chain[4:], Parent: chain[3], HasParent: true})
	want := []Location{{Block: chain[0], Tier: index.GPU}, {chain[1], index.CPU, index.Extent{Offset: 7, Length: 8, Device: 9}}, {chain[2], index.SSD, at[2]}}
	if got := x.Hint(0, chain, 5, nil); !slices.Equal(got, want) {
		t.Fatalf("hint %v, want %v", got, want)
	}
	for depth, n := range map[int]int{-1: 0, 0: 0, 2: 2, 99: 3} {
		if got := x.Hint(0, chain, depth, nil); len(got) != n {
			t.Fatalf("hint of depth %d has %d blocks, want %d", depth, len(got), n)
		}
	}
	indextest.Apply(t, x, 0, 3, index.Op{Kind: index.Remove, Tier: index.CPU, Blocks: chain[1:2]})
	if got := x.Hint(0, chain, 2, nil)[1]; got != (Location{chain[1], index.SSD, at[1]}) {
		t.Fatalf("after the CPU copy went: %v", got)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}
