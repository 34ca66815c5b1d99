package runs

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// asking runs two readers until change has returned, each of which asks for current's chain and wants depth of host 0.
func asking(t *testing.T, x *Indexer, current *atomic.Pointer[[]kvpool.BlockHash], depth int, change func()) {
	var readers sync.WaitGroup
	var done atomic.Bool
	for range 2 {
		readers.Go(func() {
			var out [index.MaxHosts]uint16
			for !done.Load() {
				if x.Depths(*current.Load(), index.HostSet(0, 1), &out); int(out[0]) != depth {
					t.Errorf("host 0 holds %d, want %d", out[0], depth)
					return
				}
			}
		})
	}
	change()
	done.Store(true)
	readers.Wait()
}

// Host 1 lengthens and shortens the run that host 0 holds the first half of, so that its length and its holders change
// together. MOD2-05
func TestReaderNeverMixesTwoMomentsOfARun(t *testing.T) {
	chain := indextest.Chain(64, "")
	x := indextest.Seeded(t, New, chain, 32, 32)
	var current atomic.Pointer[[]kvpool.BlockHash]
	current.Store(&chain)
	asking(t, x, &current, 32, func() {
		for seq := uint64(2); seq < uint64(patiently(200_000)); seq += 2 {
			x.Apply(index.Batch{Host: 1, Seq: seq,
				Ops: []index.Op{{Kind: index.Store, Blocks: chain[32:], Parent: chain[31], HasParent: true}}})
			x.Apply(index.Batch{Host: 1, Seq: seq + 1, Ops: []index.Op{{Kind: index.Remove, Blocks: chain[32:]}}})
		}
	})
}

// Host 1 makes run after run part, each of which host 0 holds all of.
// MOD2-05
func TestReaderFindsEveryBlockOfARunThatIsCut(t *testing.T) {
	x := indextest.Seeded(t, New, nil, 0, 0)
	var hasher kvpool.Hasher
	var current atomic.Pointer[[]kvpool.BlockHash]
	c := numbered(0)
	x.Apply(index.Batch{Seq: 2, Ops: []index.Op{{Kind: index.Store, Blocks: c, RootKnown: true}}})
	current.Store(&c)
	asking(t, x, &current, 64, func() {
		for i := 1; i < patiently(20_000); i++ {
			c := numbered(i)
			x.Apply(index.Batch{Seq: uint64(i + 2), Ops: []index.Op{{Kind: index.Store, Blocks: c, RootKnown: true}}})
			current.Store(&c)
			twig := append(append([]kvpool.BlockHash(nil), c[:5]...), hasher.Next(c[4], []uint32{2}))
			x.Apply(index.Batch{Host: 1, Seq: uint64(i + 1),
				Ops: []index.Op{{Kind: index.Store, Blocks: twig, RootKnown: true}}})
		}
	})
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// numbered returns the i-th of many chains of 64 blocks.
func numbered(i int) []kvpool.BlockHash {
	var hasher kvpool.Hasher
	c := []kvpool.BlockHash{kvpool.BlockHash(i+1) * index.Golden}
	for len(c) < 64 {
		c = append(c, hasher.Next(c[len(c)-1], []uint32{1}))
	}
	return c
}

// Host 0 holds all of each run, and so many others hold some that its header has no place left for them and it is cut
// in two, and the halves again. The second half has to be found before the first is short of it. MOD2-05
func TestReaderFindsEveryBlockOfARunThatIsCrowded(t *testing.T) {
	const others = 3 * maxPrefixes
	x := indextest.Seeded(t, New, nil, 0, 0)
	for h := 2; h <= others; h++ {
		if err := x.Admit(index.HostID(h)); err != nil {
			t.Fatal(err)
		}
	}
	var current atomic.Pointer[[]kvpool.BlockHash]
	c := numbered(0)
	indextest.StoreRoot(t, x, 0, 2, c)
	current.Store(&c)
	before := x.Stats().Runs
	rounds := patiently(2000)
	asking(t, x, &current, 64, func() {
		for i := 1; i < rounds; i++ {
			c := numbered(i)
			x.Apply(index.Batch{Seq: uint64(i + 2), Ops: []index.Op{{Kind: index.Store, Blocks: c, RootKnown: true}}})
			current.Store(&c)
			for h := 1; h <= others; h++ {
				x.Apply(index.Batch{Host: index.HostID(h), Seq: uint64(i + 1),
					Ops: []index.Op{{Kind: index.Store, Blocks: c[:1+h%63], RootKnown: true}}})
			}
		}
	})
	if runs := x.Stats().Runs - before; runs < 3*(rounds-1) {
		t.Fatalf("%d runs of %d chains: nothing was cut", runs, rounds)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// The lines that a reader looks at go out of use, and are emptied, while it does: what it does not find there may stand
// in the new ones. MOD2-05
func TestReaderLooksAgainWhereTheHeadTableWasSwapped(t *testing.T) {
	x := indextest.Seeded(t, New, nil, 0)
	chains := make([][]kvpool.BlockHash, 64)
	for i := range chains {
		chains[i] = numbered(i)
		indextest.StoreRoot(t, x, 0, uint64(i+2), chains[i])
	}
	heads := x.tree.heads
	swap := func() { // a segment that is large enough to be mapped, and so emptied
		x.tree.mu.Lock()
		defer x.tree.mu.Unlock()
		for i := range heads.segs {
			heads.rebuild(&heads.segs[i], &heads.fill[i], heapBuckets/64+uint64(i))
		}
	}
	var current atomic.Pointer[[]kvpool.BlockHash]
	current.Store(&chains[0])
	asking(t, x, &current, 64, func() {
		for i := range patiently(4000) {
			swap()
			current.Store(&chains[i%len(chains)])
		}
	})
}

// A run that is cut while a sweep is under way may leave its tail where the sweep has been.
// MOD2-51
func TestSweepFindsWhatIsCutBehindItsBack(t *testing.T) {
	x := indextest.Seeded(t, New, nil, 0, 0)
	for i := range uint64(8) {
		indextest.Apply(t, x, 0, i+2,
			index.Op{Kind: index.Store, Blocks: indextest.Chain(4, string(rune('a'+i))), RootKnown: true})
	}
	// its id is the next to be used
	indextest.Apply(t, x, 0, 10, index.Op{Kind: index.Remove, Blocks: indextest.Chain(4, "a")})
	last, _ := x.tree.find(indextest.Chain(1, "h")[0])
	looked := 0
	err := x.tree.sweep(context.Background(), func() index.HostBitmap {
		if looked++; looked == 4 && !x.tree.split(last, 2) {
			t.Error("no room")
		}
		return index.HostSet(0)
	}, func() bool { return false })
	if err != nil || x.Stats().Entries != 0 || x.Host(0).Blocks != 0 {
		t.Fatalf("%v, %+v", err, x.Stats())
	}
}
