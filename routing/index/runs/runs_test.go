package runs

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-03, MOD2-07, MOD2-08
func TestPromptCostsOneLookForEachStretchWhateverTheReplicas(t *testing.T) {
	for _, n := range []int{1, 8, 32, 1024, maxRun} {
		chain := indextest.Chain(n, "")
		depths := make([]int, 64)
		for h := range depths {
			depths[h] = n
		}
		if _, looks := indextest.Ask(indextest.Seeded(t, New, chain, depths...), chain, 64); looks != 1 {
			t.Errorf("%d looks for %d blocks that 64 replicas hold, want 1", looks, n)
		}
	}
	chain := indextest.Chain(1024, "")
	depths := make([]int, 200)
	for h := range depths {
		depths[h] = 5 * h
	}
	x := indextest.Seeded(t, New, chain, depths...)
	got, looks := indextest.Ask(x, chain, len(depths))
	for h, want := range depths {
		if int(got[h]) != want {
			t.Fatalf("host %d: %d, want %d", h, got[h], want)
		}
	}
	if most := 2*len(depths)/maxPrefixes + 2; looks > most {
		t.Errorf("%d looks for %d depths, want at most %d", looks, len(depths), most)
	}
}

// A hole costs no look as long as the run's header has space for it.
func TestHolesCostNoLooks(t *testing.T) {
	chain := indextest.Chain(512, "")
	x := indextest.Seeded(t, New, chain, 512, 512, 512, 512, 512)
	for h := range 4 {
		for at := 10 + h; at < 500; at += 50 {
			indextest.Apply(t, x, index.HostID(h), uint64(2+at/50),
				index.Op{Kind: index.Remove, Blocks: chain[at : at+1]})
		}
	}
	depths, looks := indextest.Ask(x, chain, 5)
	if want := []uint16{10, 11, 12, 13, 512}; !slices.Equal(depths, want) || looks != 1 {
		t.Fatalf("%v for %d looks, want %v for 1", depths, looks, want)
	}
}

func TestChainsThatPartAreRunsThatPart(t *testing.T) {
	trunk := indextest.Chain(100, "")
	var hasher kvpool.Hasher
	x := indextest.Seeded(t, New, trunk, 100)
	var twigs [3][]kvpool.BlockHash
	for i := range twigs {
		at := 30 * (i + 1)
		twig := hasher.Chain(nil, trunk[at-1], slices.Repeat([]uint32{uint32(i + 7)}, 80), 16)
		twigs[i] = append(slices.Clone(trunk[:at]), twig...)
		x.Admit(index.HostID(i + 1))
		indextest.StoreRoot(t, x, index.HostID(i+1), 1, twigs[i])
	}
	if got := x.Stats().Runs; got != 7 {
		t.Errorf("%d runs, want four stretches of the trunk and three twigs", got)
	}
	for i, c := range twigs {
		depths, looks := indextest.Ask(x, c, 4)
		if int(depths[i+1]) != len(c) || int(depths[0]) != 30*(i+1) || looks != i+2 {
			t.Errorf("twig %d: %v for %d looks", i, depths, looks)
		}
	}
}

// Blocks that come one by one, as an engine computes them, are one run.
func TestRunGrowsAtItsEnd(t *testing.T) {
	chain := indextest.Chain(maxRun+10, "")
	x := indextest.Seeded(t, New, chain, 1)
	for i := 1; i < len(chain); i++ {
		indextest.Apply(t, x, 0, uint64(i+1),
			index.Op{Kind: index.Store, Blocks: chain[i : i+1], Parent: chain[i-1], HasParent: true})
	}
	if st := x.Stats(); st.Runs != 2 || st.Entries != len(chain) {
		t.Fatalf("%+v", st)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		indextest.Apply(t, x, 0, uint64(2*len(chain)-i), index.Op{Kind: index.Remove, Blocks: chain[i : i+1]})
	}
	if st := x.Stats(); st.Runs != 0 || st.Entries != 0 {
		t.Fatalf("%+v", st)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

func TestLongestChainIsSeveralRuns(t *testing.T) {
	chain := indextest.Chain(math.MaxUint16+100, "")
	x := indextest.Seeded(t, New, chain, len(chain), 40_000)
	depths, looks := indextest.Ask(x, chain, 2)
	if depths[0] != math.MaxUint16 || depths[1] != 40_000 || looks > len(chain)/maxRun+2 {
		t.Fatalf("%v for %d looks", depths, looks)
	}
}

// MOD2-45, MOD2-46
func TestRetireAndQueriesTakeNoLock(t *testing.T) {
	if lockedReads {
		t.Skip("queries of this build take the lock")
	}
	chain := indextest.Chain(100, "")
	x := indextest.Seeded(t, New, chain, 100, 50)
	x.tree.mu.Lock() // any lock that they took would hang them
	x.hosts[0].mu.Lock()
	x.hosts[1].mu.Lock()
	first, second := x.Retire(0), x.Retire(0)
	var out [index.MaxHosts]uint16
	x.Depths(chain, index.HostSet(0, 1), &out)
	alive, unswept := x.Alive(), x.Unswept()
	x.hosts[1].mu.Unlock()
	x.hosts[0].mu.Unlock()
	x.tree.mu.Unlock()
	if !first || second || out[0] != 0 || out[1] != 50 || alive.Has(0) || !unswept.Has(0) {
		t.Fatalf("Retire: %v, %v; depths %v", first, second, out[:2])
	}
}

// MOD2-05
func TestReaderThatMeetsTheWriterTooOftenWaitsForIt(t *testing.T) {
	chain := indextest.Chain(8, "")
	x := indextest.Seeded(t, New, chain, 8)
	id, _ := x.tree.find(chain[0])
	r := x.tree.at(id)
	x.tree.mu.Lock()
	atomic.AddUint32(&r.seq, 1)
	var reader sync.WaitGroup
	var depths []uint16
	reader.Go(func() {
		var out [index.MaxHosts]uint16
		x.Depths(chain, index.HostSet(0), &out)
		depths = out[:1]
	})
	time.Sleep(10 * time.Millisecond) // real time: the other goroutine comes to wait
	atomic.AddUint32(&r.seq, 1)
	x.tree.mu.Unlock()
	reader.Wait()
	if depths[0] != 8 {
		t.Fatalf("depths %v", depths)
	}
}

// MOD2-23
func TestBatchTakesTheLockOnce(t *testing.T) {
	chain := indextest.Chain(2000, "")
	x := indextest.Seeded(t, New, chain, 0)
	before := x.Stats().Locked
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Store, Blocks: chain[:1000], RootKnown: true},
		index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[:1000], RootKnown: true},
		index.Op{Kind: index.Store, Blocks: chain[1000:], Parent: chain[999], HasParent: true})
	if got := x.Stats().Locked - before; got != 1 {
		t.Fatalf("%d locks for one batch", got)
	}
}

// MOD2-47, MOD2-49, MOD2-50, MOD2-51
func TestSweepFreesRunsTierMapsAndTheSlot(t *testing.T) {
	indextest.SweepAndReuse(t, New, func(x *Indexer) {
		if h := &x.hosts[0]; h.elsewhere != nil || h.gone != nil {
			t.Fatal("the dead replica's tier maps are still there")
		}
	})
}

// MOD2-47
func TestSweepWaitsForAPlaceAndCanBeFinishedLater(t *testing.T) {
	x := indextest.Seeded(t, New, nil, 0, 0)
	for i := range uint64(3 * sweepRuns) {
		indextest.Apply(t, x, 0, i+2,
			index.Op{Kind: index.Store, Blocks: []kvpool.BlockHash{kvpool.BlockHash(i * index.Golden)}})
	}
	x.Retire(0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	end := indextest.OccupySweeps(t, x)
	if err := x.Sweep(ended, 0); !errors.Is(err, context.Canceled) || x.Stats().Entries != 3*sweepRuns {
		t.Fatalf("Sweep without a place: %v, %d entries", err, x.Stats().Entries)
	}
	end()
	if err := x.tree.sweep(ended, x.Unswept, func() bool { return false }); !errors.Is(err, context.Canceled) ||
		x.Reusable(0) {
		t.Fatal(err)
	}
	if left := x.Stats().Entries; left != 2*sweepRuns {
		t.Fatalf("%d entries left", left)
	}
	if err := x.Sweep(t.Context(), 0); err != nil || x.Stats().Entries != 0 {
		t.Fatalf("%v, %d entries left", err, x.Stats().Entries)
	}
}

// MOD2-42
func TestServingIndexReadsTierMapsForTheWinnerOnly(t *testing.T) {
	chain := indextest.Chain(16, "")
	x := indextest.Seeded(t, New, chain, 16, 8, 4)
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain, RootKnown: true})
	x.hosts[0].mu.Lock() // a query that looked into a tier map would hang
	var out [index.MaxHosts]uint16
	x.Depths(chain, index.HostSet(0, 1, 2), &out)
	x.hosts[0].mu.Unlock()
	best := indextest.Rank(&out, index.HostSet(0, 1, 2), nil)[0]
	if got := x.Stats().Hints; got != 0 {
		t.Fatalf("%d tier maps read by a query", got)
	}
	if got := x.InTiers(best.Host, chain, int(best.Depth), 1); got[index.GPU] != 16 || x.Stats().Hints != 1 {
		t.Fatalf("by tier %v, %d tier maps read", got, x.Stats().Hints)
	}
}

// What breaks the claims breaks its own depths, and nothing else.
func TestBlocksNamedTwiceOrOutOfPlaceBreakNothing(t *testing.T) {
	c := indextest.Chain(6, "")
	x := indextest.Seeded(t, New, nil, 0, 0)
	indextest.Apply(t, x, 0, 2,
		index.Op{Kind: index.Store, Blocks: []kvpool.BlockHash{c[0], c[0], c[1], c[0], c[1], c[1]}, RootKnown: true},
		index.Op{Kind: index.Store, Blocks: []kvpool.BlockHash{c[3], c[2]}, Parent: c[3], HasParent: true},
		index.Op{Kind: index.Store, Blocks: c[4:5], Parent: c[4], HasParent: true},
		index.Op{Kind: index.Remove, Blocks: []kvpool.BlockHash{c[1], c[1], c[5]}})
	indextest.Apply(t, x, 1, 2, index.Op{Kind: index.Store, Blocks: c, RootKnown: true},
		index.Op{Kind: index.Remove, Blocks: []kvpool.BlockHash{c[2], c[0], c[4]}})
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
	if got := [2]int{x.Host(0).Blocks, x.Host(1).Blocks}; got != [2]int{4, 3} {
		t.Fatalf("%v blocks held", got)
	}
}

func TestRunsAreWholeCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(run{}); size != runSize || size%64 != 0 {
		t.Errorf("a run's header has %d bytes, want %d", size, runSize)
	}
	if off := unsafe.Offsetof(run{}.fragments); index.Words == 4 && off != 64 {
		t.Errorf("what every query reads ends at %d, not with the first line", off)
	}
	if size := unsafe.Sizeof(bucket{}); size != 64 {
		t.Errorf("a line has %d bytes", size)
	}
}
