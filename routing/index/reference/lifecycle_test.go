package reference

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-45, MOD2-46
func TestRetireTakesAReplicaOutWithoutTouchingAShard(t *testing.T) {
	chain := indextest.Chain(100, "")
	x := indextest.Seeded(t, New, chain, 100, 50)
	for i := range x.shards {
		x.shards[i].mu.Lock() // any lock that Retire took would hang it
	}
	x.hosts[0].mu.Lock()
	first, second := x.Retire(0), x.Retire(0)
	x.hosts[0].mu.Unlock()
	for i := range x.shards {
		x.shards[i].mu.Unlock()
	}
	if !first || second {
		t.Fatalf("Retire: %v, then %v; want true, then false", first, second)
	}
	if x.Alive().Has(0) || !x.Unswept().Has(0) || x.Reusable(0) {
		t.Fatal("retired, but alive or reusable")
	}
	if depths, _ := indextest.Ask(x, chain, 2); depths[0] != 0 || depths[1] != 50 {
		t.Fatalf("depths %v, want 0 50", depths)
	}
	if x.InTiers(0, chain, 100, 1) != [index.Tiers]int{} {
		t.Fatal("tiers of a retired replica")
	}
}

// MOD2-47, MOD2-49, MOD2-50, MOD2-51
func TestSweepFreesWhatNobodyLivingHoldsAndTheSlot(t *testing.T) {
	indextest.SweepAndReuse(t, New, func(x *ShardedBlockIndexer) {
		if h := &x.hosts[0]; h.tiers.blocks != nil || h.pending != nil {
			t.Fatal("the dead replica's tier maps are still there")
		}
		if x.suspects.Has(0) {
			t.Fatal("the next replica would inherit a mark")
		}
	})
}

func TestSweepCutShortCanBeFinished(t *testing.T) {
	chain := indextest.Chain(3*sweepStep, "")
	x := indextest.Seeded(t, New, chain, len(chain))
	x.Retire(0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	end := indextest.OccupySweeps(t, x) // MOD2-47: no place left
	if err := x.Sweep(ended, 0); !errors.Is(err, context.Canceled) {
		t.Fatalf("Sweep without a place: %v", err)
	}
	if x.Stats().Entries != len(chain) {
		t.Fatal("a sweep ran without a place")
	}
	end()
	if err := x.clearBits(ended, 0, &x.hosts[0]); !errors.Is(err, context.Canceled) {
		t.Fatalf("clearBits: %v", err)
	}
	if left := x.Stats().Entries; left != len(chain)-sweepStep || x.Reusable(0) {
		t.Fatalf("%d entries left of %d, reusable: %v", left, len(chain), x.Reusable(0))
	}
	if err := x.Sweep(t.Context(), 0); err != nil || x.Stats().Entries != 0 {
		t.Fatalf("%v, %d entries left", err, x.Stats().Entries)
	}
	indextest.OccupySweeps(t, x)() // all places are free again
}

// MOD2-50
func TestChurnLeavesNothingBehind(t *testing.T) {
	x := indextest.Seeded(t, New, nil)
	for round := range 40 {
		for h := range index.HostID(8) {
			if err := x.Admit(h); err != nil {
				t.Fatal(err)
			}
			indextest.StoreRoot(t, x, h, 1, indextest.Chain(50, fmt.Sprint(round, h/2)))
		}
		for h := range index.HostID(8) {
			x.Retire(h)
		}
		for h := range index.HostID(8) {
			if err := x.Sweep(t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
		if st := x.Stats(); st.Entries != 0 || st.Blocks != 0 || st.Bytes != 0 {
			t.Fatalf("round %d: %+v", round, st)
		}
	}
}

// MOD2-35, MOD2-48
func TestNoShardIsHeldForMoreThanABoundedStretch(t *testing.T) {
	var sameShard []kvpool.BlockHash
	for b := kvpool.BlockHash(0); len(sameShard) < 5*maxHold; b++ {
		if shardOf(b) == 7 {
			sameShard = append(sameShard, b)
		}
	}
	x := indextest.Seeded(t, New, sameShard, len(sameShard))
	before := x.shards[7].locked
	x.Retire(0)
	if err := x.Sweep(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if before != 5 || x.shards[7].locked-before != 5 {
		t.Fatalf("stored under %d locks and swept under %d, want 5 and 5", before, x.shards[7].locked-before)
	}
}
