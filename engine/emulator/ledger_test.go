package emulator

import (
	"math/rand/v2"
	"testing"

	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// indexed returns an index of one replica and its feed.
func indexed(t *testing.T) (*runs.Indexer, *events.Feed) {
	t.Helper()
	x, err := runs.New(index.Config{Hosts: 1})
	if err == nil {
		err = x.Admit(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	to := events.Target{Specialist: "m", BlockSize: 2}
	return x, events.NewFeed(x, kvpool.Hasher{}, func(string) (events.Target, bool) { return to, true })
}

// The snapshot says what all events together say.
func TestASnapshotEqualsTheEventsBeforeIt(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		o := newOutbox(Config{Name: "e", Epoch: 5, BlockSize: 2})
		want, all := indexed(t)
		var leaves []uint64 // blocks that nothing follows, so that what goes leaves no hole
		name := uint64(0)
		for range 200 {
			var e events.Event
			switch n := rng.IntN(20); {
			case n == 0:
				e = events.Event{Kind: events.Cleared}
				leaves = nil
			case n < 8 && len(leaves) > 0:
				i := rng.IntN(len(leaves))
				e = events.Event{Kind: events.Evicted, Hashes: []uint64{leaves[i]}}
				leaves = append(leaves[:i], leaves[i+1:]...)
			default:
				e = events.Event{Kind: events.Registered, Root: true, BlockSize: 2,
					Salt: []string{"", "acme"}[rng.IntN(2)]}
				if len(leaves) > 0 && rng.IntN(2) == 0 {
					i := rng.IntN(len(leaves))
					e.Root, e.Parent = false, leaves[i]
					leaves = append(leaves[:i], leaves[i+1:]...)
				}
				name++
				e.Hashes, e.Tokens = []uint64{name}, []uint32{rng.Uint32N(9), uint32(name)}
				leaves = append(leaves, name)
			}
			o.post(e)
			all.Deliver(events.Batch{Replica: "e", Epoch: 5, Seq: o.posted(), Events: []events.Event{e}})
		}
		got, feed := indexed(t)
		lines := o.snapshot()
		if len(lines) != 1 || lines[0].Seq != 200 || lines[0].Epoch != 5 {
			t.Fatalf("%d lines, %+v", len(lines), lines[0])
		}
		if err := feed.Resync("e", 5, 200, lines[0].Events); err != nil {
			t.Fatal(err)
		}
		if want.Digest() != got.Digest() || feed.Stats().Orphans != 0 {
			t.Fatalf("seed %d: %+v, want %+v; %+v", seed, got.Host(0), want.Host(0), feed.Stats())
		}
	}
}
