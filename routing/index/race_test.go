package index_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// churn runs one replica's life over and over until ctx ends.
func churn(ctx context.Context, wg *sync.WaitGroup, live func(round uint64)) {
	wg.Go(func() {
		for round := uint64(2); ctx.Err() == nil; round++ {
			live(round)
		}
	})
}

// Host 0 never changes, 1 has a hole for good, 2 loses and regains its tail, 3 a block in the middle, 4 dies and
// returns. MOD2-04, MOD2-05, MOD2-10, MOD2-48
func TestQueriesStayTrueWhileEventsAndSweepsRun(t *testing.T) {
	eachKind(t, queriesStayTrue)
}

//nolint:lll // raw text that cannot be broken
func queriesStayTrue(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(64, "")
	x := indextest.Seeded(t, build, chain, 64, 64, 64, 64, 64)
	indextest.Apply(t, x, 1, 2, index.Op{Kind: index.Remove, Blocks: chain[20:21]})
	ctx, cancel := context.WithCancel(t.Context())
	var writers, readers sync.WaitGroup
	toggle := func(h index.HostID, part index.Op) func(uint64) {
		return func(round uint64) {
			part.Kind = index.Store
			if round%2 == 0 {
				part.Kind = index.Remove
			}
			x.Apply(index.Batch{Host: h, Seq: round, Ops: []index.Op{part}})
		}
	}
	churn(ctx, &writers, toggle(2, index.Op{Blocks: chain[32:], Parent: chain[31], HasParent: true}))
	churn(ctx, &writers, toggle(3, index.Op{Blocks: chain[10:11], Parent: chain[9], HasParent: true}))
	churn(ctx, &writers, func(round uint64) {
		x.Retire(4)
		if err := x.Sweep(ctx, 4); err == nil && x.Admit(4) == nil {
			x.Apply(index.Batch{Host: 4, Epoch: round, Seq: 1, Ops: []index.Op{{Kind: index.Store, Blocks: chain, RootKnown: true}}})
		}
	})
	for range 3 {
		readers.Go(func() {
			var out [index.MaxHosts]uint16
			for range 2000 {
				x.Depths(chain, index.HostSet(0, 1, 2, 3, 4), &out)
				if out[0] != 64 || out[1] != 20 || out[2] < 32 || out[2] > 64 || out[3] != 10 && out[3] != 64 ||
					out[4] > 64 {
					t.Errorf("depths %v", out[:5])
					return
				}
				x.InTiers(3, chain, int(out[3]), 1)
			}
		})
	}
	readers.Wait()
	cancel()
	writers.Wait()
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// Each transport keeps the replica's order, so whichever is ahead leaves no gap and whichever is behind brings
// duplicates. MOD2-05, MOD2-18
func TestTwoTransportsWithOneHistoryLeaveWhatOneWould(t *testing.T) {
	eachKind(t, twoTransports)
}

func twoTransports(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(200, "")
	once, twice := indextest.Seeded(t, build, nil, 0), indextest.Seeded(t, build, nil, 0)
	var history []index.Batch
	for i := range chain {
		op := index.Op{Kind: index.Store, Blocks: chain[i : i+1], RootKnown: true}
		if i > 0 {
			op.RootKnown, op.Parent, op.HasParent = false, chain[i-1], true
		}
		history = append(history, index.Batch{Seq: uint64(i + 2), Ops: []index.Op{op}})
	}
	for _, b := range history {
		once.Apply(b)
	}
	var feeds sync.WaitGroup
	for range 2 {
		feeds.Go(func() {
			for _, b := range history {
				if out := twice.Apply(b); out != index.Applied && out != index.Duplicate {
					t.Errorf("batch %d: %s", b.Seq, out)
				}
			}
		})
	}
	feeds.Wait()
	a, _ := indextest.Ask(once, chain, 1)
	b, _ := indextest.Ask(twice, chain, 1)
	if once.Digest() != twice.Digest() || !slices.Equal(a, b) {
		t.Fatalf("depths %v once, %v twice", a, b)
	}
}
