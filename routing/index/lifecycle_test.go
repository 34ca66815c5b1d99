package index_test

import (
	"errors"
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-28
func TestReplicaBeyondTheCapIsRefusedAndNobodyElseNotices(t *testing.T) {
	eachKind(t, replicaBeyondTheCapIsRefusedAndNobodyElseNotices)
}

func replicaBeyondTheCapIsRefusedAndNobodyElseNotices(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(4, "")
	x, err := build(index.Config{Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	for h := range index.HostID(2) {
		if err := x.Admit(h); err != nil {
			t.Fatal(err)
		}
		indextest.StoreRoot(t, x, h, 1, chain)
	}
	for _, h := range []index.HostID{2, index.MaxHosts, 65535} {
		if err := x.Admit(h); !errors.Is(err, index.ErrOutOfRange) {
			t.Errorf("Admit(%d): %v", h, err)
		}
		if err := x.Sweep(t.Context(), h); !errors.Is(err, index.ErrOutOfRange) {
			t.Errorf("Sweep(%d): %v", h, err)
		}
		if out := x.Apply(index.Batch{Host: h, Seq: 1}); out != index.Dead {
			t.Errorf("Apply to %d: %s", h, out)
		}
		if x.Retire(h) || x.Reusable(h) || x.Host(h) != (index.HostState{}) ||
			x.InTiers(h, chain, 4, 1) != [index.Tiers]int{} {
			t.Errorf("slot %d seems to exist", h)
		}
	}
	if depths, _ := indextest.Ask(x, chain, 2); depths[0] != 4 || depths[1] != 4 {
		t.Fatalf("depths %v, want 4 4", depths)
	}
	for _, c := range []index.Config{{Hosts: -1}, {Hosts: index.MaxHosts + 1}, {Sweeps: -1}} {
		if _, err := build(c); !errors.Is(err, index.ErrConfig) {
			t.Errorf("New(%+v): %v", c, err)
		}
	}
}

// MOD2-16, MOD2-46
func TestShutdownIsARetireAndTwiceIsNoError(t *testing.T) {
	eachKind(t, shutdownIsARetireAndTwiceIsNoError)
}

func shutdownIsARetireAndTwiceIsNoError(t *testing.T, build indextest.Make) {
	x := indextest.Seeded(t, build, indextest.Chain(3, ""), 3)
	before := x.Stats().Locked
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Shutdown}, index.Op{Kind: index.Shutdown})
	if out := x.Apply(index.Batch{Host: 0, Seq: 3, Ops: []index.Op{{Kind: index.Shutdown}}}); out != index.Dead {
		t.Fatalf("shutdown of a dead replica: %s", out)
	}
	if got := x.Stats().Locked - before; got != 0 || x.Alive().Has(0) {
		t.Fatalf("%d shard locks taken, alive: %v", got, x.Alive().Has(0))
	}
}

// A batch of the replica that had the slot before does nothing to the one that has it now.
// MOD2-51
func TestBatchForAnotherGenerationIsDead(t *testing.T) {
	eachKind(t, func(t *testing.T, build indextest.Make) {
		chain := indextest.Chain(4, "")
		x := indextest.Seeded(t, build, chain, 4)
		late := index.Batch{Generation: x.Host(0).Generation, Seq: 2,
			Ops: []index.Op{{Kind: index.Store, Blocks: chain, RootKnown: true}}}
		x.Retire(0)
		if err := x.Sweep(t.Context(), 0); err != nil || x.Admit(0) != nil {
			t.Fatal(err)
		}
		if out := x.Apply(late); out != index.Dead || x.Host(0).Blocks != 0 {
			t.Fatalf("%s, %+v", out, x.Host(0))
		}
		late.Generation, late.Seq = x.Host(0).Generation, 1
		if out := x.Apply(late); out != index.Applied || x.Host(0).Blocks != 4 {
			t.Fatalf("%s, %+v", out, x.Host(0))
		}
	})
}
