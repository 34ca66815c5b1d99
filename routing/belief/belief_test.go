package belief

import (
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/approx"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// A prompt counts from the moment it is routed until the engine's events tell, or do not come. GAIE-24
func TestARoutedPromptCountsUntilItsEventsCome(t *testing.T) {
	x, guesses := oneHost(t)
	var differ index.HostBitmap
	now := time.Unix(1_700_000_000, 0)
	b := New(Config{Index: x, Guesses: guesses, TTL: 10 * time.Second,
		Differ: func() index.HostBitmap { return differ }, Cleared: func(index.HostID) {},
		Patience: func() time.Duration { return 0 }})
	b.now = func() time.Time { return now }
	b.Begin(3, time.Hour, 100)
	chain := []kvpool.BlockHash{11, 12, 13, 14}
	seq := uint64(0)
	apply := func(ops ...index.Op) {
		seq++
		if out := b.Apply(index.Batch{Host: 3, Epoch: 1, Seq: seq, Ops: ops}); out != index.Applied {
			t.Fatal(out)
		}
	}
	deep := func(want int, trust string) {
		t.Helper()
		var out [index.MaxHosts]uint16
		b.Depths(chain, index.HostSet(3), &out)
		if int(out[3]) != want || b.Trust(3) != trust {
			t.Errorf("%d deep by %s, want %d by %s", out[3], b.Trust(3), want, trust)
		}
	}
	deep(0, Load)
	b.Routed(3, chain[:2], now)
	deep(2, Approximate) // for an hour: it has not published anything yet
	apply()
	deep(0, Exact) // it publishes, and says nothing of these
	b.Routed(3, chain, now)
	deep(4, Exact)
	apply(index.Op{Kind: index.Store, RootKnown: true, Blocks: chain[:3]})
	deep(4, Exact) // three that are known, and one that is guessed
	now = now.Add(10 * time.Second)
	deep(3, Exact)
	b.Routed(3, chain, now)
	apply(index.Op{Kind: index.Remove, Blocks: chain[1:3]})
	deep(1, Exact) // what is known to be gone is not guessed
	b.Silence(index.HostSet(3))
	deep(1, Approximate) // of guesses there are the first and the last, which is no part of a prefix
	b.Silence(index.HostBitmap{})
	deep(1, Exact)
	differ = index.HostSet(3) // its engine tokenizes otherwise: events say nothing of our chains
	deep(1, Approximate)
	differ = index.HostBitmap{}
	if out := b.Apply(index.Batch{Host: 3, Epoch: 1, Seq: 99}); out != index.Gap {
		t.Fatal(out)
	}
	if got := b.Trust(3); got != Approximate {
		t.Errorf("stale, and scored by %s", got)
	}
	if out := b.Resync(3, 1, 100, []index.TierBlocks{{RootKnown: true, Blocks: chain}}); out != index.Applied {
		t.Fatal(out)
	}
	deep(4, Exact)
}

// oneHost returns an index with host 3, and guesses that last.
func oneHost(t *testing.T) (*runs.Indexer, *approx.Index) {
	t.Helper()
	x, err := runs.New(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Admit(3); err != nil {
		t.Fatal(err)
	}
	guesses, err := approx.New(approx.Config{TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return x, guesses
}
