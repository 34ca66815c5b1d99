package cmd

import (
	"sync/atomic"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/approx"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// A prompt counts from the moment it is routed until the engine's events tell, or do not come. GAIE-24
func TestARoutedPromptCountsUntilItsEventsCome(t *testing.T) {
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
	var differ atomic.Pointer[index.HostBitmap]
	differ.Store(&index.HostBitmap{})
	now := time.Unix(1_700_000_000, 0)
	b := newBeliefs(x, guesses, 10*time.Second, &differ)
	b.now = func() time.Time { return now }
	b.begin(3, time.Hour, 100)
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
		if int(out[3]) != want || b.trust(3) != trust {
			t.Errorf("%d deep by %s, want %d by %s", out[3], b.trust(3), want, trust)
		}
	}
	deep(0, trustLoad)
	b.Routed(3, chain[:2])
	deep(2, trustApproximate) // for an hour: it has not published anything yet
	apply()
	deep(0, trustExact) // it publishes, and says nothing of these
	b.Routed(3, chain)
	deep(4, trustExact)
	apply(index.Op{Kind: index.Store, RootKnown: true, Blocks: chain[:3]})
	deep(4, trustExact) // three that are known, and one that is guessed
	now = now.Add(10 * time.Second)
	deep(3, trustExact)
	b.Routed(3, chain)
	apply(index.Op{Kind: index.Remove, Blocks: chain[1:3]})
	deep(1, trustExact) // what is known to be gone is not guessed
	silent := index.HostSet(3)
	b.silent.Store(&silent)
	deep(1, trustApproximate) // of guesses there are the first and the last, which is no part of a prefix
	b.silent.Store(&index.HostBitmap{})
	deep(1, trustExact)
	differ.Store(&silent) // its engine tokenizes otherwise: events say nothing of our chains
	deep(1, trustApproximate)
	differ.Store(&index.HostBitmap{})
	if out := b.Apply(index.Batch{Host: 3, Epoch: 1, Seq: 99}); out != index.Gap {
		t.Fatal(out)
	}
	if got := b.trust(3); got != trustLoad {
		t.Errorf("stale, and scored by %s", got)
	}
	if out := b.Resync(3, 1, 100, []index.TierBlocks{{RootKnown: true, Blocks: chain}}); out != index.Applied {
		t.Fatal(out)
	}
	deep(4, trustExact)
}
