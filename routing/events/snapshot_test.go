package events

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"octet/internal/allocs"
	"octet/kvpool"
	"octet/routing/index/runs"
)

// grown returns a feed over an index after a random life of an engine, and that engine.
func grown(t *testing.T, seed uint64) (*Feed, *runs.Indexer, *simEngine) {
	t.Helper()
	x := newIndex(t, 4)
	f := NewFeed(x, hasher, only("e", debug0))
	e := newSimEngine(seed, "e", 4)
	for range 60 {
		b := e.step()
		b.Mark = b.Seq * 11
		f.Deliver(b)
	}
	return f, x, e
}

// MOD2-17: a gateway that starts again from its snapshot and the stream ends where one that never stopped does.
func TestASnapshotAndTheStreamAfterItEqualTheWholeStream(t *testing.T) {
	for seed := range uint64(20) {
		whole, want, e := grown(t, seed)
		var saved bytes.Buffer
		if err := whole.Save(&saved); err != nil {
			t.Fatal(err)
		}
		x := newIndex(t, 4)
		f := NewFeed(x, hasher, only("e", debug0))
		if n, err := f.Load(&saved); n != 1 || err != nil {
			t.Fatalf("%d replicas, %v", n, err)
		}
		if x.Digest() != want.Digest() {
			t.Fatalf("seed %d: the snapshot holds something else", seed)
		}
		if at, ok := f.Position("e"); !ok || at != (Position{e.epoch, e.seq, e.seq * 11}) {
			t.Fatalf("%+v, %t", at, ok)
		}
		for old := uint64(1); old <= e.seq; old++ {
			// the stream is read from its start
			f.Deliver(Batch{Replica: "e", Epoch: e.epoch, Seq: old, Events: []Event{{Kind: Cleared}}})
		}
		for range 200 {
			b := e.step()
			whole.Deliver(b)
			f.Deliver(b)
		}
		sameAsEngine(t, x, e, debug0)
		if x.Digest() != want.Digest() || x.Host(1).Stale || f.Stats().Gaps != 0 {
			t.Fatalf("seed %d: %+v, %+v", seed, x.Host(1), f.Stats())
		}
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSnapshotsOfOthersAreNotTakenOver(t *testing.T) {
	whole, _, _ := grown(t, 1)
	var saved bytes.Buffer
	if err := whole.Save(&saved); err != nil {
		t.Fatal(err)
	}
	other := debug0
	other.BlockSize = 8
	moved := debug0
	moved.Specialist = "build"
	for name, f := range map[string]*Feed{
		"another block size": NewFeed(newIndex(t, 4), hasher, only("e", other)),
		"another specialist": NewFeed(newIndex(t, 4), hasher, only("e", moved)),
		"a stranger":         NewFeed(newIndex(t, 4), hasher, only("other", debug0)),
	} {
		if n, err := f.Load(bytes.NewReader(saved.Bytes())); n != 0 || err != nil {
			t.Errorf("%s: %d replicas, %v", name, n, err)
		}
	}
	seeded := NewFeed(newIndex(t, 4), kvpool.NewHasher(99), only("e", debug0))
	if n, err := seeded.Load(bytes.NewReader(saved.Bytes())); n != 0 || !errors.Is(err, ErrSnapshot) {
		t.Errorf("another hash seed: %d, %v", n, err)
	}
	late := NewFeed(newIndex(t, 4), hasher, only("e", debug0))
	late.Deliver(Batch{Replica: "e", Epoch: 1 << 40, Seq: 1, Events: []Event{{Kind: Cleared}}})
	if n, err := late.Load(bytes.NewReader(saved.Bytes())); n != 0 || err != nil {
		t.Errorf("a later life: %d, %v", n, err)
	}
}

func everything(string) bool { return true }

func TestAStaleReplicaIsNotSaved(t *testing.T) {
	x := newIndex(t, 4)
	whole := NewFeed(x, hasher, only("e", debug0))
	l := whole.Open()
	l.Deliver(Batch{Replica: "e", Epoch: 1 << 40, Seq: 9})
	l.Close()
	if !x.Host(1).Stale {
		t.Fatal("it should be stale")
	}
	var saved bytes.Buffer
	if err := whole.Save(&saved); err != nil {
		t.Fatal(err)
	}
	f := NewFeed(newIndex(t, 4), hasher, only("e", debug0))
	if n, err := f.Load(&saved); n != 0 || err != nil {
		t.Errorf("%d replicas, %v", n, err)
	}
}

func TestABrokenSnapshotChangesNothing(t *testing.T) {
	whole, _, _ := grown(t, 3)
	var saved bytes.Buffer
	if err := whole.Save(&saved); err != nil {
		t.Fatal(err)
	}
	good := saved.Bytes()
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		bad := slices.Clone(good)
		if r.IntN(2) == 0 {
			bad = bad[:r.IntN(len(bad))]
		} else {
			bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
		}
		x := newIndex(t, 4)
		f := NewFeed(x, hasher, only("e", debug0))
		if n, err := f.Load(bytes.NewReader(bad)); !errors.Is(err, ErrSnapshot) || n != 0 {
			t.Fatalf("%d replicas, %v", n, err)
		}
		if x.Stats().Entries != 0 {
			t.Fatal("something was taken over")
		}
	}
}

func FuzzLoad(f *testing.F) {
	feed := NewFeed(newIndex(f, 4), hasher, only("e", debug0))
	feed.Deliver(Batch{Replica: "e", Epoch: 1, Seq: 1,
		Events: []Event{{Kind: Registered, Hashes: []uint64{1, 2}, Root: true, Tokens: tokens(1, 8), BlockSize: 4}}})
	var saved bytes.Buffer
	if err := feed.Save(&saved); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		x := newIndex(t, 4)
		feed := NewFeed(x, hasher, only("e", debug0))
		if _, err := feed.read(bytes.NewReader(data), everything); err == nil && len(data) == 0 {
			t.Fatal("nothing is a snapshot")
		}
		got := allocs.Least(func() { _, _ = feed.read(bytes.NewReader(data), everything) })
		if got > snapshotAllowed(len(data)) {
			t.Fatalf("%d bytes made %d", len(data), got)
		}
		if _, err := feed.Load(bytes.NewReader(data)); err != nil && !errors.Is(err, ErrSnapshot) {
			t.Fatal(err)
		}
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// An engine that is asked what it holds: the index is what it would be had nothing been lost.
func TestResyncFromTheEngineRepairsAGap(t *testing.T) {
	b := newBench(t)
	l := b.feed.Open()
	defer l.Close()
	send := func(seq uint64, all ...Event) { l.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: seq, Events: all}) }
	first := Event{Kind: Registered, Hashes: []uint64{1, 2}, Root: true, Tokens: tokens(1, 8), BlockSize: 4}
	second := Event{Kind: Registered, Hashes: []uint64{9}, Root: true, Tokens: tokens(50, 4), BlockSize: 4}
	send(1, first)
	send(4, second)
	if !b.x.Host(1).Stale {
		t.Fatal("not stale after a gap")
	}
	if err := b.feed.Resync("debug-0", 1, 3, []Event{first}); !errors.Is(err, ErrOutdated) {
		t.Errorf("a snapshot from before what is known: %v", err)
	}
	if err := b.feed.Resync("debug-0", 2, 9, []Event{first}); !errors.Is(err, ErrOutdated) {
		t.Errorf("a snapshot of another life: %v", err)
	}
	if err := b.feed.Resync("debug-1", 1, 9, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("a stranger's: %v", err)
	}
	if err := b.feed.Resync("debug-0", 1, 9, []Event{{Kind: Registered}}); !errors.Is(err, ErrBatch) {
		t.Errorf("nonsense: %v", err)
	}
	send(6, Event{Kind: Evicted, Hashes: []uint64{9}}) // waits in no one's way: the snapshot has it
	if err := b.feed.Resync("debug-0", 1, 7,
		[]Event{first, {Kind: Registered, Hashes: []uint64{3}, Parent: 2, Tokens: tokens(9, 4),
			BlockSize: 4}}); err != nil {
		t.Fatal(err)
	}
	c := chain("", "", tokens(1, 12))
	b.holds(fact{c[0], 0}, fact{c[1], 0}, fact{c[2], 0})
	if h := b.x.Host(1); h.Stale || h.Resyncs != 1 || h.LastSeq != 7 {
		t.Errorf("%+v", h)
	}
	send(7, second) // what the snapshot includes does not come back
	send(8, Event{Kind: Evicted, Hashes: []uint64{3}})
	b.holds(fact{c[0], 0}, fact{c[1], 0})
	if b.x.Host(1).Stale {
		t.Error("stale again")
	}
}

func TestWhatComesWhileAnEngineIsAskedWaits(t *testing.T) {
	b := newBench(t)
	l := b.feed.Open()
	defer l.Close()
	store := func(seq uint64) {
		l.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: seq, Events: []Event{{
			Kind: Registered, Hashes: []uint64{seq}, Root: true, Tokens: tokens(uint32(10*seq), 4), BlockSize: 4,
		}}})
	}
	one := func(seq uint64) fact { return fact{chain("", "", tokens(uint32(10*seq), 4))[0], 0} }
	store(1)
	store(5)
	release := b.feed.Hold("debug-0")
	store(6)
	store(7)
	b.holds(one(5)) // the first may have gone in a batch that was lost
	if err := b.feed.Resync("debug-0", 1, 6,
		[]Event{{Kind: Registered, Hashes: []uint64{6}, Root: true, Tokens: tokens(60, 4), BlockSize: 4}}); err != nil {
		t.Fatal(err)
	}
	b.holds(one(6), one(7))
	release()
	b.holds(one(6), one(7))
	release = b.feed.Hold("debug-0")
	store(8)
	b.holds(one(6), one(7))
	release()
	b.holds(one(6), one(7), one(8))
	b.feed.Hold("debug-0") // and no answer comes
	for seq := uint64(9); seq <= 9+maxHeld; seq++ {
		store(seq)
	}
	if got := b.x.Host(1).LastSeq; got != 9+maxHeld {
		t.Errorf("applied up to %d", got)
	}
	b.feed.Hold("debug-1")() // a stranger
}

func TestOnlyItsOwnSourceSpeaksForAReplica(t *testing.T) {
	bound := debug0
	bound.Source = "zmq/debug-0"
	x := newIndex(t, 4)
	f := NewFeed(x, hasher, only("e", bound))
	b := Batch{Replica: "e", Epoch: 9, Seq: 1,
		Events: []Event{{Kind: Registered, Hashes: []uint64{1}, Root: true, Tokens: tokens(1, 4), BlockSize: 4}}}
	f.Deliver(b)
	f.From("redis").Deliver(b)
	l := f.From("grpc").Open()
	l.Deliver(b)
	l.Close()
	if st := f.Stats(); x.Stats().Entries != 0 || st.Foreign != 3 || st.Applied != 0 {
		t.Fatalf("%+v, %+v", x.Stats(), st)
	}
	own := f.From("zmq/debug-0").Open()
	defer own.Close()
	own.Deliver(b)
	if x.Stats().Entries != 1 || f.Stats().Applied != 1 {
		t.Errorf("%+v, %+v", x.Stats(), f.Stats())
	}
}
