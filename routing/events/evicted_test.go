package events

import (
	"bytes"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// smallest returns an index of as little memory as one can have, in which the first n slots live.
func smallest(t *testing.T, n int) *runs.Indexer {
	t.Helper()
	for limit := int64(1 << 19); ; limit += limit / 8 {
		x, err := runs.New(index.Config{MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		for h := range n {
			if err := x.Admit(index.HostID(h)); err != nil {
				t.Fatal(err)
			}
		}
		x.Apply(index.Batch{Seq: 1,
			Ops: []index.Op{{Kind: index.Store, Blocks: []kvpool.BlockHash{1}, RootKnown: true}}})
		if st := x.Stats(); st.Refused == 0 && st.Entries == 1 {
			return x
		}
	}
}

// What the index evicted under a replica's feet neither confuses the Feed nor comes back by what it says later:
// whatever the replica is said to hold it holds, in its life, after a restart from a snapshot, and after a snapshot of
// its own.
func TestFeedGoesOnOverAnIndexThatEvicts(t *testing.T) {
	x := smallest(t, 4)
	f := NewFeed(x, hasher, only("e", debug0))
	e := newSimEngine(7, "e", 4)
	seq := uint64(1)
	flood := func() { // another replica's cold prompts
		seq++
		chain := hasher.Chain(nil, kvpool.BlockHash(seq), make([]uint32, 16*40), 16)
		if out := x.Apply(index.Batch{Seq: seq, Ops: []index.Op{{Kind: index.Store, Blocks: chain,
			RootKnown: true}}}); out != index.Applied {
			t.Fatal(out)
		}
	}
	follow := func(steps int) {
		t.Helper()
		for range steps {
			f.Deliver(e.step())
			flood()
			believesOnlyWhatIsSo(t, x, e)
		}
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
	}
	follow(400)
	for range 20_000 { // until there is no room
		if x.Stats().Evicted > 0 {
			break
		}
		flood()
	}
	if follow(400); x.Stats().Evicted == 0 {
		t.Fatal("nothing was evicted")
	}
	var saved bytes.Buffer
	if err := f.Save(&saved); err != nil {
		t.Fatal(err)
	}
	f.Deliver(Batch{Replica: "e", Epoch: e.epoch, Seq: e.seq + 1, Events: []Event{{Kind: Cleared}}})
	x = smallest(t, 4)
	seq = 1
	f = NewFeed(x, hasher, only("e", debug0))
	if n, err := f.Load(&saved); n != 1 || err != nil {
		t.Fatalf("%d replicas, %v", n, err)
	}
	follow(400)
	if st := f.Stats(); x.Host(debug0.Host).Stale || st.Gaps+st.Dead+st.Refused > 0 {
		t.Fatalf("%+v", st)
	}
}

// believesOnlyWhatIsSo compares how deep the index believes the engine's chains to be held with how deep they are.
func believesOnlyWhatIsSo(t *testing.T, x *runs.Indexer, e *simEngine) {
	t.Helper()
	truth := e.truth(debug0, hasher)
	var depths [index.MaxHosts]uint16
	for _, b := range e.blocks {
		chain := hasher.Chain(nil, hasher.Root(debug0.Specialist, b.adapter, b.salt), b.tokens, debug0.BlockSize)
		x.Depths(chain, index.HostSet(debug0.Host), &depths)
		if most := depth(truth, chain); depths[debug0.Host] > most {
			t.Fatalf("depth %d, the engine holds %d", depths[debug0.Host], most)
		}
	}
}
