package reference

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
)

// MOD2-45, MOD2-46
func TestRetireTakesAReplicaOutWithoutTouchingAShard(t *testing.T) {
	chain := chainOf(100, "")
	x := newIndex(t, chain, 100, 50)
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
	if depths, _ := ask(x, chain, 2); depths[0] != 0 || depths[1] != 50 {
		t.Fatalf("depths %v, want 0 50", depths)
	}
	if x.InTiers(0, chain, 100) != [index.Tiers]int{} {
		t.Fatal("tiers of a retired replica")
	}
}

// MOD2-47, MOD2-49, MOD2-50, MOD2-51
func TestSweepFreesWhatNobodyLivingHoldsAndTheSlot(t *testing.T) {
	chain, own := chainOf(300, ""), chainOf(200, "own")
	x := newIndex(t, chain, 300, 100, 300)
	apply(t, x, 0, 2, index.Op{Kind: index.Store, Tier: index.CPU, Blocks: own, RootKnown: true})
	x.Apply(index.Batch{Host: 0, Seq: 9}) // a gap
	x.Retire(0)
	x.Retire(2)
	if err := x.Admit(0); !errors.Is(err, index.ErrUnswept) {
		t.Fatalf("Admit of an unswept slot: %v", err)
	}
	if err := x.Sweep(t.Context(), 1); !errors.Is(err, index.ErrAlive) {
		t.Fatalf("Sweep of a living replica: %v", err)
	}
	if err := x.Sweep(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	st := x.Stats()
	if st.Entries != 100 { // those of 2 have no living holder either
		t.Fatalf("%d entries, want the 100 that a living replica holds", st.Entries)
	}
	if h := &x.hosts[0]; h.tiers.blocks != nil || h.pending != nil {
		t.Fatal("the dead replica's tier maps are still there")
	}
	if !x.Reusable(0) || x.Sweep(t.Context(), 0) != nil {
		t.Fatal("swept, but not reusable or not swept twice")
	}
	if err := x.Admit(0); err != nil {
		t.Fatal(err)
	}
	if x.Stale().Has(0) || x.suspects.Has(0) || x.Host(0) != (index.HostState{Generation: 2, Alive: true}) {
		t.Fatalf("the new replica has inherited marks: %+v", x.Host(0))
	}
	if depths, _ := ask(x, chain, 3); depths[0] != 0 || depths[1] != 100 || depths[2] != 0 {
		t.Fatalf("depths %v: the new replica has inherited bits", depths)
	}
	storeRoot(t, x, 0, 1, chain[:7])
	if depths, _ := ask(x, chain, 1); depths[0] != 7 {
		t.Fatalf("depth %d: the new replica cannot be routed to", depths[0])
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

func TestSweepCutShortCanBeFinished(t *testing.T) {
	chain := chainOf(3*sweepStep, "")
	x := newIndex(t, chain, len(chain))
	x.Retire(0)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	end := occupySweeps(t, x) // MOD2-47: no place left
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
	occupySweeps(t, x)() // all places are free again
}

// MOD2-50
func TestChurnLeavesNothingBehind(t *testing.T) {
	x := newIndex(t, nil)
	for round := range 40 {
		for h := range index.HostID(8) {
			if err := x.Admit(h); err != nil {
				t.Fatal(err)
			}
			storeRoot(t, x, h, 1, chainOf(50, fmt.Sprint(round, h/2)))
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
	x := newIndex(t, sameShard, len(sameShard))
	before := x.shards[7].locked
	x.Retire(0)
	if err := x.Sweep(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if before != 5 || x.shards[7].locked-before != 5 {
		t.Fatalf("stored under %d locks and swept under %d, want 5 and 5", before, x.shards[7].locked-before)
	}
}
