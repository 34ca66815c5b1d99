package events

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"octet/kvpool"
	"octet/routing/index"
)

// couldKnow is what a gateway could know of an engine's cache by the batches that it heard: slow and obvious. Of two
// worlds that differ in what was not heard it assumes the one with fewer blocks.
type couldKnow struct {
	to       Target
	epoch    uint64
	last     uint64
	begun    bool
	contents map[uint64][]kvpool.BlockHash // by engine hash: the chain up to and with the block
	least    map[uint64][index.Tiers]int   // copies that there are at least
}

func newCouldKnow(to Target) *couldKnow {
	k := &couldKnow{to: to}
	k.wipe()
	return k
}

func (k *couldKnow) wipe() {
	k.contents, k.least = map[uint64][]kvpool.BlockHash{}, map[uint64][index.Tiers]int{}
}

// hear takes the next batch that reaches the gateway.
func (k *couldKnow) hear(b Batch) {
	another := !k.begun || b.Epoch != k.epoch
	if another {
		k.wipe() // the engine is another one, or may be
	} else if b.Seq != k.last+1 {
		k.least = map[uint64][index.Tiers]int{} // what was held may have gone; what names say stays
	}
	k.begun, k.epoch, k.last = true, b.Epoch, b.Seq
	for i := range b.Events {
		k.event(&b.Events[i])
	}
}

func (k *couldKnow) event(e *Event) {
	switch e.Kind {
	case Cleared, Shutdown:
		k.wipe()
	case Evicted:
		for _, h := range e.Hashes {
			n := k.least[h]
			n[e.Tier] = max(n[e.Tier]-1, 0)
			k.least[h] = n
		}
	case Registered:
		k.stored(e)
	}
}

// stored places each block behind the one before it, if that is known.
func (k *couldKnow) stored(e *Event) {
	root := hasher.Root(k.to.Specialist, e.Adapter, e.Salt)
	before, known := []kvpool.BlockHash{}, e.Root
	if !e.Root {
		before, known = k.contents[e.Parent], k.contents[e.Parent] != nil
	}
	for i, h := range e.Hashes {
		n := k.least[h]
		n[e.Tier]++
		k.least[h] = n
		if k.contents[h] == nil && known && len(e.Tokens) > 0 {
			last := root
			if len(before) > 0 {
				last = before[len(before)-1]
			}
			own := hasher.Chain(nil, last, e.Tokens[i*e.BlockSize:(i+1)*e.BlockSize], k.to.BlockSize)
			k.contents[h] = append(append([]kvpool.BlockHash{}, before...), own...)
		}
		before, known = k.contents[h], k.contents[h] != nil
	}
}

// facts returns every block of ours that is known to be in a tier.
func (k *couldKnow) facts(engineSize int) map[fact]bool {
	all := map[fact]bool{}
	for name, n := range k.least {
		chain := k.contents[name]
		if chain == nil {
			continue
		}
		for t := range index.Tier(index.Tiers) {
			for _, h := range chain[len(chain)-engineSize/k.to.BlockSize:] {
				if n[t] > 0 {
					all[fact{h, t}] = true
				}
			}
		}
	}
	return all
}

// A gateway joins an engine that has run for a while, misses batches, gets replays that are too short or none, is told
// of another life that may be the same: at every moment it credits what could be known, all of that, and nothing that
// the engine does not hold.
func TestWhatIsKnownAfterJoiningIsWhatCouldBeKnown(t *testing.T) {
	var joins, gaps, unsure, whole int
	rapid.Check(t, func(t *rapid.T) {
		to := Target{Host: 1, Specialist: "debug", BlockSize: rapid.SampledFrom([]int{4, 16}).Draw(t, "block")}
		x := newRapidIndex(t)
		seen := newShadow(x)
		f := NewFeed(seen, hasher, only("e", to))
		in := f.Open()
		engine := newSimEngine(rapid.Uint64().Draw(t, "engine"), "e", 16)
		model := newCouldKnow(to)
		for range rapid.IntRange(0, 60).Draw(t, "before") { // the gateway joins
			engine.step()
		}
		offset, life := uint64(1000), engine.epoch // a transport numbers lives by itself
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			b := engine.step()
			if b.Epoch != life {
				life, offset = b.Epoch, offset+1
			}
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0: // lost, and some after it
				gaps++
				continue
			case 1: // an interruption: nothing tells whether this is the same life
				offset++
				b.Unsure = true
				unsure++
			}
			b.Epoch = offset
			if !model.begun && b.Seq > 1 {
				joins++
			}
			in.Deliver(b)
			model.hear(b)
			want := model.facts(16)
			if got := seen.held[to.Host]; !maps.Equal(got, want) {
				t.Fatalf("after %d of epoch %d it knows %d facts, and could know %d", b.Seq, b.Epoch, len(got),
					len(want))
			}
			truth := engine.truth(to, hasher)
			for held := range want {
				if !truth[held] {
					t.Fatalf("%v is believed and not held", held)
				}
			}
			if len(want) == len(truth) {
				whole++
			}
			creditsWhatIsKnown(t, x, engine, want, to)
			if err := x.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Logf("%d joins, %d batches lost, %d interruptions; %d times all was known", joins, gaps, unsure, whole)
	if joins == 0 || gaps == 0 || unsure == 0 || whole == 0 {
		t.Error("not everything happened")
	}
}

func newRapidIndex(t *rapid.T) interface {
	Applier
	index.Reader
	Check() error
	Host(index.HostID) index.HostState
} {
	x, err := newRuns(2)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// creditsWhatIsKnown compares the credit that every chain of the engine gets with the known blocks that it begins with.
func creditsWhatIsKnown(t *rapid.T, x index.Reader, e *simEngine, known map[fact]bool, to Target) {
	var depths [index.MaxHosts]uint16
	for _, b := range e.blocks {
		chain := hasher.Chain(nil, hasher.Root(to.Specialist, b.adapter, b.salt), b.tokens, to.BlockSize)
		x.Depths(chain, index.HostSet(to.Host), &depths)
		if want := depth(known, chain); depths[to.Host] != want {
			t.Fatalf("depth %d, could be known to %d", depths[to.Host], want)
		}
	}
}

// Each way of joining, by hand.
func TestJoiningARunningEngine(t *testing.T) {
	root := stored(true, 0, tokens(1, 8), 1, 2)
	behind := stored(false, 2, tokens(9, 4), 3)
	fresh := stored(true, 0, tokens(50, 8), 7, 8)
	all, other := chain("", "", tokens(1, 12)), chain("", "", tokens(50, 8))
	for _, row := range []struct {
		name     string
		batches  []Batch // of replica debug-0, without its name
		known    []fact
		stale    bool
		orphans  int
		evicted  uint64 // of blocks that are not known
		joined   bool
		fromLast uint64
	}{
		{"the first number is above 1", []Batch{{Epoch: 1, Seq: 500, Events: []Event{behind}},
			{Epoch: 1, Seq: 501, Events: []Event{evicted(1, 2), fresh}}}, gpu(other...), true, 1, 2, true, 500},
		{"a gap that nothing fills", []Batch{{Epoch: 1, Seq: 1, Events: []Event{root}},
			{Epoch: 1, Seq: 3, Events: []Event{behind}}}, gpu(all[2]), true, 0, 0, false, 3},
		{"and its eviction is of an unknown copy", []Batch{{Epoch: 1, Seq: 1, Events: []Event{root}},
			{Epoch: 1, Seq: 3, Events: []Event{evicted(2)}}, {Epoch: 1, Seq: 4, Events: []Event{root, evicted(2)}}},
			gpu(all[0]), true, 0, 1, false, 3},
		{"a replay that is too short", []Batch{{Epoch: 5, Seq: 1, Events: []Event{root}},
			{Epoch: 6, Seq: 90, Events: []Event{behind}, Unsure: true},
			{Epoch: 6, Seq: 91, Events: []Event{fresh}}}, gpu(other...), true, 1, 0, true, 90},
		{"a replay of all of it", []Batch{{Epoch: 5, Seq: 1, Events: []Event{fresh}},
			{Epoch: 6, Seq: 1, Events: []Event{root}, Unsure: true}}, gpu(all[:2]...), false, 0, 0, false, 0},
		{"a cleared cache is known", []Batch{{Epoch: 1, Seq: 500, Events: []Event{behind}},
			{Epoch: 1, Seq: 501, Events: []Event{{Kind: Cleared}, root}}}, gpu(all[:2]...), false, 0, 0, false, 0},
		{"two contents of one name", []Batch{{Epoch: 1, Seq: 1, Events: []Event{root}},
			{Epoch: 1, Seq: 3, Events: []Event{stored(true, 0, tokens(50, 4), 1)}}}, gpu(other[0]), true, 0, 0, false,
			3},
		{"a copy below the GPU by its name", []Batch{{Epoch: 1, Seq: 1, Events: []Event{root}},
			{Epoch: 1, Seq: 3, Events: []Event{{Kind: Registered, Tier: index.CPU, Hashes: []uint64{1}}}}},
			[]fact{{all[0], index.CPU}}, true, 0, 0, false, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t)
			in := b.feed.Open()
			for _, batch := range row.batches {
				batch.Replica = "debug-0"
				in.Deliver(batch)
			}
			b.holds(row.known...)
			got, open := b.feed.Unknown("debug-0")
			if stale := b.x.Host(debug0.Host).Stale; stale != row.stale || open != row.stale {
				t.Errorf("stale %t, open %t, want %t", stale, open, row.stale)
			}
			if row.stale && (got.Orphans != row.orphans || got.Evictions != row.evicted || got.Joined != row.joined ||
				got.Seq != row.fromLast || got.Since.IsZero()) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Once as many blocks of unknown content have been evicted as the engine's cache has, none is left from before.
func TestTheDoubtEndsOnceNothingIsLeftFromBefore(t *testing.T) {
	b := newBench(t)
	to := debug0
	to.Pool = 3
	b.feed = NewFeed(b.seen, hasher, only("debug-0", to))
	in := b.feed.Open()
	for i, e := range []Event{stored(true, 0, tokens(1, 8), 1, 2), evicted(70, 71), evicted(2), evicted(2)} {
		if stale := b.x.Stale().Has(to.Host); stale != (i > 0) {
			t.Fatalf("batch %d: stale %t", i, stale)
		}
		in.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: uint64(100 + i), Events: []Event{e}})
	}
	if _, open := b.feed.Unknown("debug-0"); open || b.x.Stale().Has(to.Host) {
		t.Errorf("it goes on: %+v", b.x.Host(to.Host))
	}
	b.holds(gpu(chain("", "", tokens(1, 4))...)...)
}

// A publisher that loses every other batch costs no more than what it publishes.
func TestAGapCostsWhatCameSinceTheLastOne(t *testing.T) {
	m := newMapping(MaxBlocks, &tally{}, nil)
	grow := func(from, n uint64) {
		for h := from; h < from+n; h++ {
			e := stored(true, 0, tokens(uint32(10*h), 4), h)
			m.change(&e, debug0, hasher)
		}
	}
	grow(1, 50_000)
	m.forget(true)
	if allocs := testing.AllocsPerRun(100, func() {
		m.begin()
		grow(100_000, 1)
		m.forget(true)
		m.doubts = nil
	}); allocs > 60 {
		t.Errorf("%v allocations for a gap after one block", allocs)
	}
	if n := len(m.names); n != 50_001 || len(m.order) > 2*n+keepDeparted {
		t.Errorf("%d names in an order of %d", n, len(m.order))
	}
}

// Names are within the limit of what a replica may have.
func TestNamesMakeRoomForBlocks(t *testing.T) {
	m := newMapping(8, &tally{}, nil)
	for h := uint64(1); h <= 8; h++ {
		e := stored(true, 0, tokens(uint32(10*h), 4), h)
		m.change(&e, debug0, hasher)
	}
	m.forget(true)
	for h := uint64(9); h <= 20; h++ {
		e := stored(true, 0, tokens(uint32(10*h), 4), h)
		m.change(&e, debug0, hasher)
		if len(m.blocks)+len(m.names) > 8 {
			t.Fatalf("%d blocks and %d names", len(m.blocks), len(m.names))
		}
	}
	if len(m.blocks) != 8 || !m.full {
		t.Errorf("%d blocks, full %t", len(m.blocks), m.full)
	}
}
