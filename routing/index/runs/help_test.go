package runs

import (
	"context"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
	"octet/routing/index/reference"
)

type subject = indextest.Subject

// kinds are the index of this package and the one that it is compared with.
var kinds = []struct {
	name  string
	build indextest.Make
}{
	{"runs", func(c index.Config) (subject, error) { return New(c) }},
	{"reference", func(c index.Config) (subject, error) { return reference.New(c) }},
}

var (
	chainOf   = indextest.Chain
	seed      = indextest.Seed
	apply     = indextest.Apply
	storeRoot = indextest.StoreRoot
	ask       = indextest.Ask
)

// newRuns returns an index whose hosts 0, 1, 2, … hold the first depths[0], depths[1], … blocks of chain.
func newRuns(t testing.TB, chain []kvpool.BlockHash, depths ...int) *Indexer {
	t.Helper()
	x, err := New(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	seed(t, x, chain, depths...)
	return x
}

// patiently returns n, or fewer under the race detector, which makes everything slow.
func patiently(n int) int {
	if lockedReads {
		return n / 10
	}
	return n
}

// occupySweeps has as many sweeps run as may run side by side, of slots that nothing else is about. end ends them.
func occupySweeps(t *testing.T, x *Indexer) (end func()) {
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
