package reference

import (
	"runtime"
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// A query loads the suspects first. What becomes one while it runs is scanned before it answers.
// MOD2-05, architecture decision 1
func TestHoleThatOpensDuringAQueryIsNotCredited(t *testing.T) {
	chain := indextest.Chain(32, "")
	x := indextest.Seeded(t, New, chain, 16, 16)
	suspects := x.suspects.Load()
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Remove, Blocks: chain[3:4]},
		index.Op{Kind: index.Store, Blocks: chain[16:], Parent: chain[15], HasParent: true})
	var out [index.MaxHosts]uint16
	q := query{x: x, chain: chain, out: &out}
	q.run(index.HostSet(0, 1), suspects)
	if out[0] != 3 || out[1] != 16 {
		t.Fatalf("depths %v, want 3 16", out[:2])
	}
}

// Doubt is raised before the first block changes and lowered after the last: a writer that is held up between finds it
// raised.
func TestDoubtOutlastsEveryChangeOfABatch(t *testing.T) {
	chain := indextest.Chain(32, "")
	x := indextest.Seeded(t, New, chain, 32)
	hole := chain[10:11]
	for i, op := range []index.Op{{Kind: index.Remove, Blocks: hole},
		{Kind: index.Store, Blocks: hole, Parent: chain[9], HasParent: true}} {
		s := &x.shards[shardOf(hole[0])]
		s.mu.RLock()
		done := make(chan index.Outcome)
		go func() { done <- x.Apply(index.Batch{Host: 0, Seq: uint64(i + 2), Ops: []index.Op{op}}) }()
		for s.mu.TryRLock() { // fails once the writer waits
			s.mu.RUnlock()
			runtime.Gosched()
		}
		if !x.suspects.Has(0) {
			t.Errorf("batch %d changes blocks without doubt", i)
		}
		s.mu.RUnlock()
		if out := <-done; out != index.Applied || x.suspects.Has(0) != (op.Kind == index.Remove) {
			t.Errorf("batch %d: %s, in doubt: %v", i, out, x.suspects.Has(0))
		}
	}
}
