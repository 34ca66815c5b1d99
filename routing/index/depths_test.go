package index

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"octet/kvpool"
)

// chainOf returns a chain of n blocks; salt tells chains apart.
func chainOf(n int, salt string) []kvpool.BlockHash {
	var h kvpool.Hasher
	return h.Chain(nil, h.Root("debug", "", salt), make([]uint32, n*16), 16)
}

// newIndex returns an index whose hosts 0, 1, 2, … hold the first depths[0], depths[1], … blocks of chain.
func newIndex(t testing.TB, chain []kvpool.BlockHash, depths ...int) *ShardedBlockIndexer {
	t.Helper()
	x, err := NewSharded(Config{})
	if err != nil {
		t.Fatal(err)
	}
	seed(t, x, chain, depths...)
	return x
}

// newRuns is newIndex for the index that serves.
func newRuns(t testing.TB, chain []kvpool.BlockHash, depths ...int) *Indexer {
	t.Helper()
	x, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	seed(t, x, chain, depths...)
	return x
}

// seeded is newIndex for either.
func seeded(t testing.TB, make func(Config) (subject, error), chain []kvpool.BlockHash, depths ...int) subject {
	t.Helper()
	x, err := make(Config{})
	if err != nil {
		t.Fatal(err)
	}
	seed(t, x, chain, depths...)
	return x
}

func seed(t testing.TB, x subject, chain []kvpool.BlockHash, depths ...int) {
	t.Helper()
	for h, depth := range depths {
		if err := x.Admit(HostID(h)); err != nil {
			t.Fatal(err)
		}
		storeRoot(t, x, HostID(h), 1, chain[:depth])
	}
}

func storeRoot(t testing.TB, x told, h HostID, seq uint64, blocks []kvpool.BlockHash) {
	t.Helper()
	apply(t, x, h, seq, Op{Kind: Store, Blocks: blocks, RootKnown: true})
}

func apply(t testing.TB, x told, h HostID, seq uint64, ops ...Op) {
	t.Helper()
	if out := x.Apply(Batch{Host: h, Seq: seq, Ops: ops}); out != Applied {
		t.Fatalf("batch %d of host %d: %s", seq, h, out)
	}
}

// ask returns the depths of the first hosts and how many lookups they cost.
func ask(x subject, chain []kvpool.BlockHash, hosts int) ([]uint16, int) {
	var out [MaxHosts]uint16
	var among HostBitmap
	for h := range hosts {
		among.Set(HostID(h))
	}
	before := x.Stats().Lookups
	x.Depths(chain, among, &out)
	return out[:hosts], int(x.Stats().Lookups - before)
}

// MOD2-01, MOD2-09
func TestWorkedExampleTakesAboutTenLookups(t *testing.T) {
	eachKind(t, workedExampleTakesAboutTenLookups)
}

func workedExampleTakesAboutTenLookups(t *testing.T, make func(Config) (subject, error)) {
	chain := chainOf(8, "")
	x := seeded(t, make, chain, 6, 4, 8, 2)
	depths, lookups := ask(x, chain, 4)
	if !slices.Equal(depths, []uint16{6, 4, 8, 2}) || lookups > 10 {
		t.Fatalf("depths %v for %d lookups, want 6 4 8 2 for at most 10 (naive 32)", depths, lookups)
	}
	var out [MaxHosts]uint16
	copy(out[:], depths)
	want := []Ranked{{2, 8}, {0, 6}, {1, 4}, {3, 2}}
	if got := Rank(&out, HostSet(0, 1, 2, 3), nil); !slices.Equal(got, want) {
		t.Fatalf("ranked %v, want %v", got, want)
	}
}

// MOD2-11
func TestRankPutsDeeperThenLowerHostsFirstAndTheEmptyLast(t *testing.T) {
	depths := [MaxHosts]uint16{3, 0, 7, 3, 0, 7, 9}
	got := Rank(&depths, HostSet(0, 1, 2, 3, 4, 5), []Ranked{{99, 0}})
	want := []Ranked{{99, 0}, {2, 7}, {5, 7}, {0, 3}, {3, 3}, {1, 0}, {4, 0}}
	if !slices.Equal(got, want) {
		t.Fatalf("ranked %v, want %v", got, want)
	}
}

// MOD2-07
func TestOneDepthCostsOneBinarySearch(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 31, 32, 33, 100, 1024} {
		chain, bound := chainOf(n, ""), bits.Len(uint(n-1))+1 // ⌈log2 n⌉ + 1
		for depth := 0; depth <= n; depth += 1 + n/40 {
			x := newIndex(t, chain, depth, depth, depth)
			if got, lookups := ask(x, chain, 3); got[2] != uint16(depth) || lookups > bound {
				t.Fatalf("depth %d of %d: found %d for %d lookups, want at most %d", depth, n, got[2], lookups, bound)
			}
		}
	}
}

// MOD2-03, MOD2-07
func TestAsManyDepthsAsReplicasStayWithinKLogN(t *testing.T) {
	chain := chainOf(1024, "")
	depths := make([]int, 64)
	for h := range depths {
		depths[h] = (h + 1) * 16
	}
	x := newIndex(t, chain, depths...)
	got, lookups := ask(x, chain, len(depths))
	for h := range depths {
		if int(got[h]) != depths[h] {
			t.Fatalf("host %d: depth %d, want %d", h, got[h], depths[h])
		}
	}
	if bound := 64 * 10; lookups > bound {
		t.Fatalf("%d lookups, want at most %d", lookups, bound)
	}
	chain = chain[:32]
	if _, lookups := ask(x, chain, len(depths)); lookups > len(chain) {
		t.Fatalf("%d lookups for 32 blocks on 64 replicas, want at most 32, not 2,048", lookups)
	}
}

// MOD2-08
func TestTwiceTheReplicasCostNoMoreLookups(t *testing.T) {
	chain := chainOf(200, "")
	depths := []int{10, 150, 77, 0, 200}
	few := newIndex(t, chain, depths...)
	many := newIndex(t, chain, slices.Repeat(depths, 40)...)
	_, a := ask(few, chain, 5)
	if got, b := ask(many, chain, 200); a != b || got[196] != 150 {
		t.Fatalf("%d lookups for 5 replicas, %d for 200", a, b)
	}
}

// MOD2-12
func TestOddChainsHaveDefinedDepths(t *testing.T) { eachKind(t, oddChainsHaveDefinedDepths) }

func oddChainsHaveDefinedDepths(t *testing.T, make func(Config) (subject, error)) {
	chain := chainOf(70_000, "")
	x := seeded(t, make, chain, 70_000, 5)
	for _, c := range []struct {
		name  string
		chain []kvpool.BlockHash
		want  []uint16
	}{
		{"empty", nil, []uint16{0, 0}},
		{"one block", chain[:1], []uint16{1, 1}},
		{"longer than held", chain[:9], []uint16{9, 5}},
		{"unknown", chainOf(9, "other"), []uint16{0, 0}},
		{"unknown after known", append(slices.Clone(chain[:3]), 1, 2, 3), []uint16{3, 3}},
		{"beyond what a depth can say", chain, []uint16{math.MaxUint16, 5}},
	} {
		if got, _ := ask(x, c.chain, 2); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// MOD2-38, architecture decision 1
func TestHolesAreNeverCredited(t *testing.T) { eachKind(t, holesAreNeverCredited) }

func holesAreNeverCredited(t *testing.T, make func(Config) (subject, error)) {
	chain := chainOf(64, "")
	x := seeded(t, make, chain, 64, 64, 64, 40)
	apply(t, x, 1, 2, Op{Kind: Remove, Blocks: chain[10:11]})
	apply(t, x, 2, 2, Op{Kind: Remove, Blocks: chain[:1]})
	depths, lookups := ask(x, chain, 4)
	if !slices.Equal(depths, []uint16{64, 10, 0, 40}) {
		t.Fatalf("depths %v, want 64 10 0 40", depths)
	}
	if bound := 11 + 2*6; lookups > bound { // the suspects' scan, then the rest by halving
		t.Fatalf("%d lookups, want at most %d", lookups, bound)
	}
	if _, reference := x.(*ShardedBlockIndexer); reference && x.Host(1).Detached != 1 {
		t.Fatalf("%d detached blocks, want the one after the hole", x.Host(1).Detached)
	}
	apply(t, x, 1, 3, Op{Kind: Store, Blocks: chain[10:11], Parent: chain[9], HasParent: true})
	apply(t, x, 2, 3, Op{Kind: Store, Tier: SSD, Blocks: chain[:1], RootKnown: true})
	if depths, lookups = ask(x, chain, 4); !slices.Equal(depths, []uint16{64, 64, 64, 40}) || lookups > 12 {
		t.Fatalf("holes filled: depths %v for %d lookups, want 64 64 64 40 by halving", depths, lookups)
	}
}

func TestBlocksOfUnknownPlaceCountButAreScanned(t *testing.T) {
	chain := chainOf(32, "")
	x := newIndex(t, chain, 0)
	apply(t, x, 0, 2, Op{Kind: Store, Blocks: []kvpool.BlockHash{chain[2], chain[0], chain[1], chain[20]}})
	if depths, _ := ask(x, chain, 1); depths[0] != 3 {
		t.Fatalf("depth %d, want 3", depths[0])
	}
	apply(t, x, 0, 3, Op{Kind: Store, Blocks: chain, RootKnown: true})
	if depths, lookups := ask(x, chain, 1); depths[0] != 32 || lookups > 6 || x.Host(0).Detached != 0 {
		t.Fatalf("placed: depth %d for %d lookups, %d detached", depths[0], lookups, x.Host(0).Detached)
	}
}

func TestAnswersNameOnlyTheLivingAmongTheAsked(t *testing.T) {
	eachKind(t, answersNameOnlyTheLivingAmongTheAsked)
}

func answersNameOnlyTheLivingAmongTheAsked(t *testing.T, make func(Config) (subject, error)) {
	chain := chainOf(4, "")
	x := seeded(t, make, chain, 4, 4, 4)
	x.Retire(1)
	out := [MaxHosts]uint16{9, 9, 9, 9}
	x.Depths(chain, HostSet(0, 1), &out) // MOD2-10
	if want := []uint16{4, 0, 0, 0}; !slices.Equal(out[:4], want) {
		t.Fatalf("depths %v, want %v", out[:4], want)
	}
}

// Most replicas hold nothing of a prompt: they cost one lookup and not a search of their own.
func TestReplicasThatHoldNothingCostOneLookupMore(t *testing.T) {
	chain := chainOf(1024, "")
	_, full := ask(newIndex(t, chain, 1024), chain, 1)
	if _, lookups := ask(newIndex(t, chain, 1024, 0, 0), chain, 3); lookups != full+1 {
		t.Fatalf("%d lookups with empty replicas, %d without", lookups, full)
	}
	if _, lookups := ask(newIndex(t, chain, 0, 0), chain, 2); lookups != 2 {
		t.Fatalf("%d lookups to find nothing, want 2", lookups)
	}
}

// Depths near both ends make groups wait at every level of the search.
func TestLongestChainWithDepthsAtEveryScale(t *testing.T) {
	chain := chainOf(math.MaxUint16, "")
	x := newIndex(t, nil)
	var want []uint16
	for bit := uint16(1); bit != 0; bit <<= 1 {
		want = append(want, bit-1, bit, bit+1, math.MaxUint16-bit+1, math.MaxUint16-bit)
	}
	for i, b := range chain { // into the shards alone: the tier maps would take seconds
		var held HostBitmap
		for h, depth := range want {
			if i < int(depth) {
				held.Set(HostID(h))
			}
		}
		x.shards[shardOf(b)].blocks[b] = held
	}
	for h := range want {
		if err := x.Admit(HostID(h)); err != nil {
			t.Fatal(err)
		}
	}
	if got, lookups := ask(x, chain, len(want)); !slices.Equal(got, want) || lookups > len(want)*16 {
		t.Fatalf("%d lookups, depths %v, want %v", lookups, got, want)
	}
}
