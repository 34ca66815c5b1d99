package events

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"octet/kvpool"
	"octet/routing/events/enginehash"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// namedEngine is an engine that hashes by a scheme of its own and tells no tokens. It caches what prompts are made of,
// each block in up to two copies on the GPU, drops some to CPU memory, and forgets at random, ends before beginnings or
// not.
type namedEngine struct {
	rng    *rand.Rand
	scheme *enginehash.Scheme
	size   int
	texts  [][]uint32 // of prompts
	copies map[namedCopy]int
	name   string
	epoch  uint64
	seq    uint64
}

type namedCopy struct {
	name uint64
	tier index.Tier
}

func newNamedEngine(t *testing.T, seed uint64, size int) *namedEngine {
	t.Helper()
	scheme, err := enginehash.New(enginehash.SHA256CBOR, "42")
	if err != nil {
		t.Fatal(err)
	}
	e := &namedEngine{rng: rand.New(rand.NewPCG(seed, 1)), scheme: scheme, size: size, name: "e", epoch: 1,
		copies: map[namedCopy]int{}}
	for range 30 {
		e.texts = append(e.texts, e.text())
	}
	return e
}

// text is a prompt that begins like an earlier one.
func (e *namedEngine) text() (text []uint32) {
	if n := len(e.texts); n > 0 {
		before := e.texts[e.rng.IntN(n)]
		text = append(text, before[:e.rng.IntN(len(before)+1)]...)
	}
	for range 1 + e.rng.IntN(6*e.size) {
		text = append(text, e.rng.Uint32N(9))
	}
	return text
}

func (e *namedEngine) names(text []uint32) []uint64 {
	names, err := e.scheme.Chain(text, e.size, "", "")
	if err != nil {
		panic(err)
	}
	return names
}

func (e *namedEngine) step() Batch {
	e.seq++
	b := Batch{Replica: e.name, Epoch: e.epoch, Seq: e.seq}
	for range 1 + e.rng.IntN(3) {
		names := e.names(e.texts[e.rng.IntN(len(e.texts))])
		if len(names) == 0 {
			continue
		}
		from := e.rng.IntN(len(names))
		event := Event{Kind: Registered, Hashes: names[from:], Root: from == 0, BlockSize: e.size}
		if from > 0 {
			event.Parent = names[from-1]
		}
		switch e.rng.IntN(8) {
		case 0, 1, 2: // something goes
			event = Event{Kind: Evicted, Tier: index.Tier(e.rng.IntN(2)), Hashes: names[from:]}
		case 3: // an offload tier names no parents, and tells its blocks in any order
			event.Tier, event.Root, event.Parent = index.CPU, false, 0
			event.Hashes = slices.Clone(event.Hashes)
			e.rng.Shuffle(len(event.Hashes),
				func(i, j int) { event.Hashes[i], event.Hashes[j] = event.Hashes[j], event.Hashes[i] })
			event.Hashes = event.Hashes[:1+e.rng.IntN(len(event.Hashes))]
		case 4:
			if e.rng.IntN(40) == 0 {
				event = Event{Kind: Cleared}
			}
		}
		e.note(&event)
		b.Events = append(b.Events, event)
	}
	return b
}

func (e *namedEngine) note(event *Event) {
	if event.Kind == Cleared {
		clear(e.copies)
	}
	for _, h := range event.Hashes {
		at := namedCopy{h, event.Tier}
		switch {
		case event.Kind == Registered:
			e.copies[at]++
		case e.copies[at] > 1:
			e.copies[at]--
		default:
			delete(e.copies, at)
		}
	}
}

// depth is how many leading blocks of a prompt the engine holds, somewhere.
func (e *namedEngine) depth(text []uint32) (n int) {
	for _, name := range e.names(text) {
		if e.copies[namedCopy{name, index.GPU}]+e.copies[namedCopy{name, index.CPU}] == 0 {
			break
		}
		n++
	}
	return n
}

func (e *namedEngine) truth(within kvpool.BlockHash) map[fact]bool {
	all := map[fact]bool{}
	for at := range e.copies {
		all[fact{kvpool.Named(within, at.name), at.tier}] = true
	}
	return all
}

// The index holds what the engine holds, and a prompt hashed as the engine does finds how much of its beginning that
// is: after any events, from the middle of the stream on, and again from a snapshot. MOD2-13, MOD2-17, MOD2-39,
// MOD2-44, DYN-10
func TestNamesAloneTellWhatAnEngineHolds(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			engine := newNamedEngine(t, seed, 4)
			to := Target{Host: 3, Specialist: "debug", BlockSize: 4, Scheme: engine.scheme, Named: true}
			within := hasher.Root("debug", "", "")
			x := newIndex(t, 4)
			seen := newShadow(x)
			feed := NewFeed(seen, hasher, only("e", to))
			in := feed.Open()
			for i := range 1500 {
				in.Deliver(engine.step())
				if i%50 != 49 {
					continue
				}
				if !maps.Equal(seen.held[to.Host], engine.truth(within)) {
					t.Fatalf("after %d the index was told of %d blocks, the engine has %d", i, len(seen.held[to.Host]),
						len(engine.truth(within)))
				}
				sameDepths(t, x, engine, to)
			}
			if st := feed.Stats(); st.Orphans+st.Unmappable+st.Conflicts+st.Gaps > 0 {
				t.Errorf("%+v", st)
			}
			var saved bytes.Buffer
			if err := feed.Save(&saved); err != nil {
				t.Fatal(err)
			}
			again := newIndex(t, 4)
			restored := NewFeed(again, hasher, only("e", to))
			if n, err := restored.Load(bytes.NewReader(saved.Bytes())); n != 1 || err != nil {
				t.Fatalf("%d replicas, %v", n, err)
			}
			for range 200 {
				restored.Deliver(engine.step())
			}
			sameDepths(t, again, engine, to)
			other := to
			other.Named = false
			if n, err := NewFeed(newIndex(t, 4), hasher, only("e",
				other)).Load(bytes.NewReader(saved.Bytes())); n != 0 || err != nil {
				t.Errorf("where prompts are hashed otherwise %d replicas are taken over, %v", n, err)
			}
		})
	}
}

func sameDepths(t *testing.T, x *runs.Indexer, engine *namedEngine, to Target) {
	t.Helper()
	for _, text := range engine.texts {
		p := &enginehash.Prompt{Scheme: engine.scheme, Within: hasher.Root("debug", "", "")}
		chain := p.Extend(nil, 0, new(kvpool.Digest), text, engine.size)
		var out [index.MaxHosts]uint16
		x.Depths(chain, index.HostSet(to.Host), &out)
		if int(out[to.Host]) != engine.depth(text) {
			t.Fatalf("of %d blocks the index knows of %d, the engine holds %d", len(chain), out[to.Host],
				engine.depth(text))
		}
	}
}

// A gateway that comes in the middle knows what it is told from there on, whatever went before: nothing hangs on an
// unknown parent.
func TestNamesNeedNoParents(t *testing.T) {
	b := newBench(t)
	to := debug0
	to.Named = true
	b.feed = NewFeed(b.seen, hasher, only("debug-0", to))
	within := hasher.Root("debug", "", "")
	b.send(Event{Kind: Registered, Hashes: []uint64{12, 13}, Parent: 11, BlockSize: 4})
	b.holds(gpu(kvpool.Named(within, 12), kvpool.Named(within, 13))...)
	b.send(Event{Kind: Registered, Hashes: []uint64{10, 11}, Root: true})
	depth := func() uint16 {
		var out [index.MaxHosts]uint16
		b.x.Depths([]kvpool.BlockHash{kvpool.Named(within, 10), kvpool.Named(within, 11), kvpool.Named(within, 12),
			kvpool.Named(within, 13)}, index.HostSet(debug0.Host), &out)
		return out[debug0.Host]
	}
	if depth() != 4 {
		t.Errorf("%d deep, want 4", depth())
	}
	b.send(Event{Kind: Registered, Hashes: []uint64{90, 91}, Root: true, BlockSize: 8}, evicted(91), evicted(11))
	b.holds(gpu(kvpool.Named(within, 10), kvpool.Named(within, 12), kvpool.Named(within, 13))...)
	if st := b.feed.Stats(); depth() != 1 || st.Unmappable != 2 {
		t.Errorf("%d deep, %+v", depth(), st)
	}
}

// Neither a scheme that is only compared nor a source makes a replica another one.
func TestAnotherCheckForgetsNothing(t *testing.T) {
	b := newBench(t)
	to := debug0
	b.feed = NewFeed(b.seen, hasher, func(string) (Target, bool) { return to, true })
	b.send(stored(true, 0, tokens(1, 8), 10, 11))
	to.Scheme, to.Source = plainScheme{}, ""
	b.send(evicted(11))
	b.holds(gpu(chain("", "", tokens(1, 4))...)...)
}
