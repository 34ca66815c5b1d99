package indextest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"octet/routing/index"
)

// Sweeper is an index that bounds how many sweeps run side by side.
type Sweeper interface {
	BeginSweep(ctx context.Context, id index.HostID) (end func(), err error)
}

// OccupySweeps takes the places of all sweeps that may run side by side, for slots that the test does not touch. end
// gives them back.
func OccupySweeps(t testing.TB, x Sweeper) (end func()) {
	t.Helper()
	first, err := x.BeginSweep(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	second, err := x.BeginSweep(t.Context(), 101)
	if err != nil {
		t.Fatal(err)
	}
	return func() { first(); second() }
}

// SweepAndReuse retires two of three replicas, sweeps the slot of one and gives it to a new replica: what the living
// one holds stays, and the new one inherits nothing. swept looks inside the index between the two.
func SweepAndReuse[X Subject](t *testing.T, build func(index.Config) (X, error), swept func(x X)) {
	t.Helper()
	chain, own := Chain(300, ""), Chain(200, "own")
	x := Seeded(t, build, chain, 300, 100, 300)
	Apply(t, x, 0, 2, index.Op{Kind: index.Store, Tier: index.CPU, Blocks: own, RootKnown: true})
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
	if got := x.Stats().Entries; got != 100 { // those of 2 have no living holder either
		t.Fatalf("%d entries, want the 100 that a living replica holds", got)
	}
	swept(x)
	if !x.Reusable(0) || x.Sweep(t.Context(), 0) != nil {
		t.Fatal("swept, but not reusable or not swept twice")
	}
	if err := x.Admit(0); err != nil {
		t.Fatal(err)
	}
	if x.Stale().Has(0) || x.Host(0) != (index.HostState{Generation: 2, Alive: true}) {
		t.Fatalf("the new replica has inherited marks: %+v", x.Host(0))
	}
	if depths, _ := Ask(x, chain, 3); !slices.Equal(depths, []uint16{0, 100, 0}) {
		t.Fatalf("depths %v: the new replica has inherited blocks", depths)
	}
	StoreRoot(t, x, 0, 1, chain[:7])
	if depths, _ := Ask(x, chain, 3); !slices.Equal(depths, []uint16{7, 100, 0}) {
		t.Fatalf("depths %v: the new replica cannot be routed to", depths)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}
