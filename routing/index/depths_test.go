package index_test

import (
	"math"
	"slices"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
	"octet/routing/index/reference"
)

// MOD2-01, MOD2-09
func TestWorkedExampleTakesAboutTenLookups(t *testing.T) {
	eachKind(t, workedExampleTakesAboutTenLookups)
}

func workedExampleTakesAboutTenLookups(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(8, "")
	x := indextest.Seeded(t, build, chain, 6, 4, 8, 2)
	depths, lookups := indextest.Ask(x, chain, 4)
	if !slices.Equal(depths, []uint16{6, 4, 8, 2}) || lookups > 10 {
		t.Fatalf("depths %v for %d lookups, want 6 4 8 2 for at most 10 (naive 32)", depths, lookups)
	}
	var out [index.MaxHosts]uint16
	copy(out[:], depths)
	want := []indextest.Ranked{{Host: 2, Depth: 8}, {Host: 0, Depth: 6}, {Host: 1, Depth: 4}, {Host: 3, Depth: 2}}
	if got := indextest.Rank(&out, index.HostSet(0, 1, 2, 3), nil); !slices.Equal(got, want) {
		t.Fatalf("ranked %v, want %v", got, want)
	}
}

// MOD2-11
//
//nolint:lll // raw text that cannot be broken
func TestRankPutsDeeperThenLowerHostsFirstAndTheEmptyLast(t *testing.T) {
	depths := [index.MaxHosts]uint16{3, 0, 7, 3, 0, 7, 9}
	got := indextest.Rank(&depths, index.HostSet(0, 1, 2, 3, 4, 5), []indextest.Ranked{{Host: 99, Depth: 0}})
	want := []indextest.Ranked{{Host: 99, Depth: 0}, {Host: 2, Depth: 7}, {Host: 5, Depth: 7}, {Host: 0, Depth: 3}, {Host: 3, Depth: 3}, {Host: 1, Depth: 0}, {Host: 4, Depth: 0}}
	if !slices.Equal(got, want) {
		t.Fatalf("ranked %v, want %v", got, want)
	}
}

// MOD2-12
func TestOddChainsHaveDefinedDepths(t *testing.T) { eachKind(t, oddChainsHaveDefinedDepths) }

func oddChainsHaveDefinedDepths(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(70_000, "")
	x := indextest.Seeded(t, build, chain, 70_000, 5)
	for _, c := range []struct {
		name  string
		chain []kvpool.BlockHash
		want  []uint16
	}{
		{"empty", nil, []uint16{0, 0}},
		{"one block", chain[:1], []uint16{1, 1}},
		{"longer than held", chain[:9], []uint16{9, 5}},
		{"unknown", indextest.Chain(9, "other"), []uint16{0, 0}},
		{"unknown after known", append(slices.Clone(chain[:3]), 1, 2, 3), []uint16{3, 3}},
		{"beyond what a depth can say", chain, []uint16{math.MaxUint16, 5}},
	} {
		if got, _ := indextest.Ask(x, c.chain, 2); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// MOD2-38, architecture decision 1
func TestHolesAreNeverCredited(t *testing.T) { eachKind(t, holesAreNeverCredited) }

func holesAreNeverCredited(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(64, "")
	x := indextest.Seeded(t, build, chain, 64, 64, 64, 40)
	indextest.Apply(t, x, 1, 2, index.Op{Kind: index.Remove, Blocks: chain[10:11]})
	indextest.Apply(t, x, 2, 2, index.Op{Kind: index.Remove, Blocks: chain[:1]})
	depths, lookups := indextest.Ask(x, chain, 4)
	if !slices.Equal(depths, []uint16{64, 10, 0, 40}) {
		t.Fatalf("depths %v, want 64 10 0 40", depths)
	}
	if bound := 11 + 2*6; lookups > bound { // the suspects' scan, then the rest by halving
		t.Fatalf("%d lookups, want at most %d", lookups, bound)
	}
	if _, reference := x.(*reference.ShardedBlockIndexer); reference && x.Host(1).Detached != 1 {
		t.Fatalf("%d detached blocks, want the one after the hole", x.Host(1).Detached)
	}
	indextest.Apply(t, x, 1, 3, index.Op{Kind: index.Store, Blocks: chain[10:11], Parent: chain[9], HasParent: true})
	indextest.Apply(t, x, 2, 3, index.Op{Kind: index.Store, Tier: index.SSD, Blocks: chain[:1], RootKnown: true})
	if depths, lookups = indextest.Ask(x, chain, 4); !slices.Equal(depths, []uint16{64, 64, 64, 40}) || lookups > 12 {
		t.Fatalf("holes filled: depths %v for %d lookups, want 64 64 64 40 by halving", depths, lookups)
	}
}

func TestAnswersNameOnlyTheLivingAmongTheAsked(t *testing.T) {
	eachKind(t, answersNameOnlyTheLivingAmongTheAsked)
}

func answersNameOnlyTheLivingAmongTheAsked(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(4, "")
	x := indextest.Seeded(t, build, chain, 4, 4, 4)
	x.Retire(1)
	out := [index.MaxHosts]uint16{9, 9, 9, 9}
	x.Depths(chain, index.HostSet(0, 1), &out) // MOD2-10
	if want := []uint16{4, 0, 0, 0}; !slices.Equal(out[:4], want) {
		t.Fatalf("depths %v, want %v", out[:4], want)
	}
}
