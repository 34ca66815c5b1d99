package index_test

import (
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// batch is one line of a history: what comes in, and what is expected then.
type batch struct {
	epoch, seq uint64
	op         index.OpKind
	out        index.Outcome
	stale      bool
	blocks     int
	gaps       uint64
}

// Architecture decision 2. Store stores one more block each time.
func TestEpochAndSeqDecideWhatABatchDoes(t *testing.T) { eachKind(t, epochAndSeqDecideWhatABatchDoes) }

//nolint:lll // raw text that cannot be broken
func epochAndSeqDecideWhatABatchDoes(t *testing.T, build indextest.Make) {
	for name, history := range map[string][]batch{
		"in order from 1": {{1, 1, index.Store, index.Applied, false, 1, 0}, {1, 2, index.Store, index.Applied, false, 2, 0}},
		"in order from 0": {{0, 0, index.Store, index.Applied, false, 1, 0}, {0, 1, index.Store, index.Applied, false, 2, 0}},
		"seen before": {{1, 1, index.Store, index.Applied, false, 1, 0}, {1, 1, index.Store, index.Duplicate, false, 1, 0},
			{1, 2, index.Store, index.Applied, false, 2, 0},
			{1, 1, index.Clear, index.Duplicate, false, 2, 0}, {1, 0, index.Clear, index.Duplicate, false, 2, 0}},
		"later epoch wipes": {{1, 1, index.Store, index.Applied, false, 1, 0}, {1, 2, index.Store, index.Applied, false, 2, 0},
			{2, 1, index.Store, index.Applied, false, 1, 0},
			{1, 3, index.Store, index.OldEpoch, false, 1, 0}},
		"gap makes stale": {{1, 1, index.Store, index.Applied, false, 1, 0}, {1, 3, index.Store, index.Gap, true, 2, 1},
			{1, 4, index.Store, index.Applied, true, 3, 1},
			{1, 2, index.Store, index.Duplicate, true, 3, 1}, {1, 9, index.Store, index.Gap, true, 4, 2}},
		"late first is a gap":  {{1, 2, index.Store, index.Gap, true, 1, 1}},
		"new epoch heals":      {{1, 5, index.Store, index.Gap, true, 1, 1}, {2, 1, index.Store, index.Applied, false, 1, 1}},
		"new epoch with a gap": {{1, 1, index.Store, index.Applied, false, 1, 0}, {2, 2, index.Store, index.Gap, true, 1, 1}},
		"clear heals": {{1, 5, index.Store, index.Gap, true, 1, 1}, {1, 6, index.Clear, index.Applied, false, 0, 1},
			{1, 7, index.Store, index.Applied, false, 1, 1}},
		"clear after a gap": {{1, 1, index.Store, index.Applied, false, 1, 0}, {1, 5, index.Clear, index.Applied, false, 0, 1}},
		// MOD2-16
		"shutdown, then nobody": {{1, 1, index.Shutdown, index.Applied, false, 0, 0}, {1, 2, index.Store, index.Dead, false, 0, 0},
			{1, 2, index.Shutdown, index.Dead, false, 0, 0}},
	} {
		chain := indextest.Chain(20, "")
		x := indextest.Seeded(t, build, nil)
		if err := x.Admit(7); err != nil {
			t.Fatal(err)
		}
		for i, b := range history {
			op := index.Op{Kind: b.op}
			if b.op == index.Store {
				op.Blocks = chain[i : i+1]
			}
			out := x.Apply(index.Batch{Host: 7, Epoch: b.epoch, Seq: b.seq, Ops: []index.Op{op}})
			h := x.Host(7)
			if out != b.out || h.Stale != b.stale || h.Blocks != b.blocks || h.Gaps != b.gaps ||
				x.Stale().Has(7) != b.stale {
				t.Errorf("%s, batch %d: %s, %+v, want %+v", name, i, out, h, b)
			}
		}
	}
}

func TestALostBatchIsAGap(t *testing.T) { eachKind(t, aLostBatchIsAGap) }

func aLostBatchIsAGap(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(4, "")
	x := indextest.Seeded(t, build, chain, 2)
	if out := x.Apply(index.Batch{Host: 0, Seq: 2, Lost: true}); out != index.Gap || !x.Stale().Has(0) {
		t.Errorf("%s, %+v", out, x.Host(0))
	}
	if out := x.Apply(index.Batch{Host: 0, Seq: 3}); out != index.Applied || x.Host(0).Gaps != 1 {
		t.Errorf("the one after it: %s, %+v", out, x.Host(0))
	}
	if out := x.Apply(index.Batch{Host: 0, Seq: 3, Lost: true}); out != index.Duplicate || x.Host(0).Gaps != 1 {
		t.Errorf("one that has come: %s, %+v", out, x.Host(0))
	}
}

// MOD2-14, MOD2-15
func TestStoringTheHeldAndRemovingTheAbsentChangeNothing(t *testing.T) {
	eachKind(t, storingTheHeldAndRemovingTheAbsentChangeNothing)
}

//nolint:lll // raw text that cannot be broken
func storingTheHeldAndRemovingTheAbsentChangeNothing(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(6, "")
	x := indextest.Seeded(t, build, chain, 4)
	digest, before := x.Digest(), x.Stats()
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Store, Blocks: chain[:4], RootKnown: true}, index.Op{Kind: index.Remove, Blocks: chain[4:]},
		index.Op{Kind: index.Remove, Tier: index.CPU, Blocks: chain[:2]})
	after := x.Stats()
	after.Locked = before.Locked
	if x.Digest() != digest || after != before {
		t.Fatalf("%+v became %+v", before, after)
	}
}

func TestResyncReplacesEverythingAndClearsStale(t *testing.T) {
	eachKind(t, resyncReplacesEverythingAndClearsStale)
}

//nolint:lll // raw text that cannot be broken
func resyncReplacesEverythingAndClearsStale(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(8, "")
	x := indextest.Seeded(t, build, chain, 3)
	x.Apply(index.Batch{Host: 0, Seq: 5, Ops: []index.Op{{Kind: index.Store, Blocks: chain[6:]}}})
	if !x.Stale().Has(0) {
		t.Fatal("a gap left no stale mark")
	}
	snapshot := []index.TierBlocks{{Blocks: chain[:5], RootKnown: true},
		{Tier: index.SSD, Blocks: chain[5:6], Parent: chain[4], HasParent: true}}
	for _, c := range []struct {
		epoch, seq uint64
		want       index.Outcome
	}{{0, 4, index.Duplicate}, {0, 6, index.Applied}, {0, 6, index.Applied}, {3, 1, index.Applied}, {2, 9, index.OldEpoch}} {
		if got := x.Resync(0, c.epoch, c.seq, snapshot); got != c.want {
			t.Fatalf("snapshot of epoch %d, batch %d: %s, want %s", c.epoch, c.seq, got, c.want)
		}
	}
	want := index.HostState{Generation: 1, Epoch: 3, LastSeq: 1, Alive: true, Gaps: 1, Resyncs: 3, Blocks: 6}
	if got := x.Host(0); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	if depths, _ := indextest.Ask(x, chain, 1); depths[0] != 6 {
		t.Fatalf("depth %d, want 6", depths[0])
	}
	if out := x.Resync(9, 1, 1, nil); out != index.Dead {
		t.Fatalf("snapshot of a slot not in use: %s", out)
	}
}

func TestDigestDependsOnFactsAndNotOnTheirOrder(t *testing.T) {
	eachKind(t, digestDependsOnFactsAndNotOnTheirOrder)
}

//nolint:lll // raw text that cannot be broken
func digestDependsOnFactsAndNotOnTheirOrder(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(5, "")
	a, b := indextest.Seeded(t, build, chain, 5, 2), indextest.Seeded(t, build, chain, 0, 0)
	for i := range chain {
		indextest.Apply(t, b, 0, uint64(i+2), index.Op{Kind: index.Store, Blocks: chain[4-i : 5-i]})
	}
	indextest.Apply(t, b, 1, 2, index.Op{Kind: index.Store, Blocks: chain, RootKnown: true}, index.Op{Kind: index.Remove, Blocks: chain[2:]})
	if a.Digest() != b.Digest() {
		t.Fatal("equal facts, other digest")
	}
	indextest.Apply(t, b, 1, 3, index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[:1]})
	if a.Digest() == b.Digest() {
		t.Fatal("one more copy, same digest")
	}
	if swapped := indextest.Seeded(t, build, chain, 2, 5); swapped.Digest() == a.Digest() {
		t.Fatal("other replicas, same digest")
	}
}
