package reference

import (
	"context"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

var (
	chainOf   = indextest.Chain
	seed      = indextest.Seed
	apply     = indextest.Apply
	storeRoot = indextest.StoreRoot
	ask       = indextest.Ask
)

// newIndex returns an index whose hosts 0, 1, 2, … hold the first depths[0], depths[1], … blocks of chain.
func newIndex(t testing.TB, chain []kvpool.BlockHash, depths ...int) *ShardedBlockIndexer {
	t.Helper()
	x, err := New(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	seed(t, x, chain, depths...)
	return x
}

// occupySweeps has as many sweeps run as may run side by side, of slots that nothing else is about. end ends them.
func occupySweeps(t *testing.T, x *ShardedBlockIndexer) (end func()) {
	t.Helper()
	first, err := x.BeginSweep(context.Background(), 100)
	if err != nil {
		t.Fatal(err)
	}
	second, err := x.BeginSweep(context.Background(), 101)
	if err != nil {
		t.Fatal(err)
	}
	return func() { first(); second() }
}
