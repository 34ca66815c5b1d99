package events

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/runs"
)

var hasher = kvpool.NewHasher(42)

// newRuns returns an index in which the first n slots live.
func newRuns(n int) (*runs.Indexer, error) {
	x, err := runs.New(index.Config{})
	for h := range n {
		err = errors.Join(err, x.Admit(index.HostID(h)))
	}
	return x, err
}

// newIndex returns an index in which the first n slots live.
func newIndex(t testing.TB, n int) *runs.Indexer {
	t.Helper()
	x, err := newRuns(n)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// only resolves one replica.
func only(name string, to Target) func(string) (Target, bool) {
	return func(replica string) (Target, bool) { return to, replica == name }
}

// sameAsEngine compares the index with what the engine really holds: every fact, by the digest of an index that was
// told the truth.
func sameAsEngine(t *testing.T, x *runs.Indexer, s *simEngine, to Target) {
	t.Helper()
	truth := newIndex(t, int(to.Host)+1)
	for f := range s.truth(to, hasher) {
		truth.Apply(index.Batch{Host: to.Host, Epoch: 1, Seq: truth.Host(to.Host).LastSeq + 1, Ops: []index.Op{
			{Kind: index.Store, Tier: f.tier, Blocks: []kvpool.BlockHash{f.block}},
		}})
	}
	if got, want := x.Digest(), truth.Digest(); got != want {
		t.Fatalf("after seq %d of epoch %d the index has digest %x and %d blocks, the engine %x and %d",
			s.seq, s.epoch, got, x.Host(to.Host).Blocks, want, truth.Host(to.Host).Blocks)
	}
}

// MOD2-13, MOD2-14, MOD2-15, MOD2-44, DYN-10
func TestTheIndexEqualsTheEnginesCacheWhateverTheBlockSizes(t *testing.T) {
	for _, size := range []int{4, 8, 16} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("target=%d/seed=%d", size, seed), func(t *testing.T) {
				to := Target{Host: 3, Specialist: "debug", BlockSize: size}
				x := newIndex(t, 4)
				seen := newShadow(x)
				feed := NewFeed(seen, hasher, only("e", to))
				in := feed.Open()
				engine := newSimEngine(seed, "e", 16)
				for i := range 1000 {
					in.Deliver(engine.step())
					if i%200 == 199 {
						sameAsEngine(t, x, engine, to)
						samePrefixes(t, x, seen, engine, to)
						if !maps.Equal(seen.held[to.Host], engine.truth(to, hasher)) {
							t.Fatal("the changes do not add up to what the engine holds")
						}
					}
				}
				if st := feed.Stats(); st.Gaps+st.Orphans+st.Conflicts+st.Duplicates > 0 || st.Applied != 1000 {
					t.Errorf("%+v", st)
				}
				if h := x.Host(to.Host); h.Stale || h.Detached > h.Blocks {
					t.Errorf("%+v", h)
				}
			})
		}
	}
}

// samePrefixes compares, for every chain of the engine, how deep the index believes it to be held, and where its blocks
// were said to stand.
func samePrefixes(t *testing.T, x *runs.Indexer, seen *shadow, s *simEngine, to Target) {
	t.Helper()
	truth := s.truth(to, hasher)
	var depths [index.MaxHosts]uint16
	for _, b := range s.blocks {
		root := hasher.Root(to.Specialist, b.adapter, b.salt)
		chain := hasher.Chain(nil, root, b.tokens, to.BlockSize)
		x.Depths(chain, index.HostSet(to.Host), &depths)
		if want := depth(truth, chain); depths[to.Host] != want {
			t.Fatalf("depth %d, want %d", depths[to.Host], want)
		}
		for i, h := range chain {
			var before kvpool.BlockHash // of a chain's first block
			if i > 0 {
				before = chain[i-1]
			}
			if said, ok := seen.follows[h]; ok && said != before {
				t.Fatalf("block %d of a chain was said to follow %x, not %x", i, said, before)
			}
		}
	}
}

// A batch that one transport lost comes by the other one. MOD2-18
func TestTwoTransportsThatLoseDifferentBatchesGiveTheStateOfOne(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		to := Target{Host: 0, Specialist: "algo", BlockSize: 16}
		x := newIndex(t, 1)
		feed := NewFeed(x, hasher, only("e", to))
		a, b := feed.Open(), feed.Open()
		engine := newSimEngine(seed, "e", 16)
		first := engine.step()
		a.Deliver(first)
		b.Deliver(first)
		var queues [2][]Batch
		for range 600 {
			batch := engine.step()
			lost := rng.IntN(5) // 0: by a, 1: by b, else by none
			for i := range queues {
				if lost != i {
					queues[i] = append(queues[i], batch)
				}
			}
			race(rng, &queues, [2]Sink{a, b}, 40)
		}
		race(rng, &queues, [2]Sink{a, b}, 0)
		if st := feed.Stats(); st.Gaps > 0 || st.Held > 0 {
			t.Fatalf("seed %d: %+v", seed, st)
		}
		sameAsEngine(t, x, engine, to)
		if x.Host(0).Stale {
			t.Errorf("seed %d: stale", seed)
		}
	}
}

// race delivers from random queues until none is longer than keep.
func race(rng *rand.Rand, queues *[2][]Batch, sinks [2]Sink, keep int) {
	for len(queues[0]) > keep || len(queues[1]) > keep {
		if i := rng.IntN(2); len(queues[i]) > 0 {
			sinks[i].Deliver(queues[i][0])
			queues[i] = queues[i][1:]
		}
	}
}

// MOD2-18
func TestTransportsThatRaceOnManyGoroutinesGiveTheStateOfOne(t *testing.T) {
	const engines = 3
	x := newIndex(t, engines)
	names := map[string]Target{}
	for i := range engines {
		names[fmt.Sprint("e", i)] = Target{Host: index.HostID(i), Specialist: "stl", BlockSize: 8}
	}
	feed := NewFeed(x, hasher, func(r string) (Target, bool) { to, ok := names[r]; return to, ok })
	var all []*simEngine
	var log []Batch
	for i := range engines {
		all = append(all, newSimEngine(uint64(i), fmt.Sprint("e", i), 16))
	}
	for i := range 1500 {
		log = append(log, all[i%engines].step())
	}
	var wg sync.WaitGroup
	for i := range 4 {
		sink := Sink(feed)
		if i < 2 {
			sink = feed.Open()
		}
		wg.Go(func() {
			for _, b := range log {
				sink.Deliver(b)
			}
		})
	}
	wg.Wait()
	want := newIndex(t, engines)
	alone := NewFeed(want, hasher, func(r string) (Target, bool) { to, ok := names[r]; return to, ok })
	for _, b := range log {
		alone.Deliver(b)
	}
	if x.Digest() != want.Digest() || !x.Stale().Empty() {
		t.Errorf("digest %x, alone %x, stale %v", x.Digest(), want.Digest(), x.Stale())
	}
	if st := feed.Stats(); st.Applied != 1500 || st.Gaps != 0 || st.Held != 0 {
		t.Errorf("%+v", st)
	}
}

// MOD2-17
func TestReplayingAnyPartOfTheStreamChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	to := Target{Host: 0, Specialist: "build", BlockSize: 16}
	x := newIndex(t, 1)
	feed := NewFeed(x, hasher, only("e", to))
	engine := newSimEngine(9, "e", 16)
	var log []Batch
	for range 30 {
		for range 20 {
			log = append(log, engine.step())
			feed.Deliver(log[len(log)-1])
		}
		from := rng.IntN(len(log))
		for _, b := range log[from : from+rng.IntN(len(log)-from)] {
			feed.Deliver(b)
		}
		sameAsEngine(t, x, engine, to)
	}
}
