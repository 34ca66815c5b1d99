package events

import (
	"testing"

	"octet/routing/index"
)

// numbered returns an empty batch.
func numbered(epoch, seq uint64) Batch { return Batch{Replica: "debug-0", Epoch: epoch, Seq: seq} }

// order fails unless the index got these batches, as epoch and seq.
func (b *bench) order(want ...[2]uint64) {
	b.t.Helper()
	var got [][2]uint64
	for _, a := range b.seen.batches {
		got = append(got, [2]uint64{a.Epoch, a.Seq})
	}
	if len(got) != len(want) {
		b.t.Fatalf("index got %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			b.t.Fatalf("index got %v, want %v", got, want)
		}
	}
}

func TestALoneTransportShowsItsGapAtOnce(t *testing.T) {
	b := newBench(t)
	in := b.feed.Open()
	for _, seq := range []uint64{1, 2, 4, 5} {
		in.Deliver(numbered(1, seq))
	}
	b.order([2]uint64{1, 1}, [2]uint64{1, 2}, [2]uint64{1, 4}, [2]uint64{1, 5})
	if st := b.feed.Stats(); st.Gaps != 1 || !b.x.Stale().Has(debug0.Host) {
		t.Errorf("%+v, stale %v", st, b.x.Stale())
	}
}

func TestAnEarlyBatchWaitsForTheTransportThatIsBehind(t *testing.T) {
	b := newBench(t)
	fast, slow := b.feed.Open(), b.feed.Open()
	fast.Deliver(numbered(1, 1))
	slow.Deliver(numbered(1, 1))
	fast.Deliver(numbered(1, 3)) // 2 was lost on this way
	fast.Deliver(numbered(1, 4))
	b.order([2]uint64{1, 1})
	if st := b.feed.Stats(); st.Held != 2 {
		t.Errorf("%+v", st)
	}
	slow.Deliver(numbered(1, 2))
	b.order([2]uint64{1, 1}, [2]uint64{1, 2}, [2]uint64{1, 3}, [2]uint64{1, 4})
	if st := b.feed.Stats(); st.Held != 0 || st.Gaps != 0 || st.Duplicates != 1 {
		t.Errorf("%+v", st)
	}
}

func TestWhatAllTransportsLostIsAGap(t *testing.T) {
	b := newBench(t)
	one, two := b.feed.Open(), b.feed.Open()
	one.Deliver(numbered(1, 1))
	two.Deliver(numbered(1, 1))
	one.Deliver(numbered(1, 3))
	two.Deliver(numbered(1, 3))
	b.order([2]uint64{1, 1}, [2]uint64{1, 3})
}

func TestATransportThatLeavesIsNotWaitedFor(t *testing.T) {
	b := newBench(t)
	one, two := b.feed.Open(), b.feed.Open()
	one.Deliver(numbered(1, 1))
	two.Deliver(numbered(1, 1))
	one.Deliver(numbered(1, 3))
	two.Close()
	b.order([2]uint64{1, 1}, [2]uint64{1, 3})
	if !b.x.Stale().Has(debug0.Host) {
		t.Error("not stale")
	}
}

func TestATransportThatNeverCarriedTheReplicaIsNotWaitedFor(t *testing.T) {
	b := newBench(t)
	one, two := b.feed.Open(), b.feed.Open()
	two.Deliver(Batch{Replica: "another", Epoch: 1, Seq: 1})
	one.Deliver(numbered(1, 1))
	one.Deliver(numbered(1, 3))
	b.order([2]uint64{1, 1}, [2]uint64{1, 3})
}

func TestWithoutAnyOrderSixtyFourBatchesWaitBeforeAGapIsTaken(t *testing.T) {
	b := newBench(t)
	b.feed.Deliver(numbered(1, 1))
	for i := range uint64(MaxEarly) {
		b.feed.Deliver(numbered(1, 3+i))
	}
	b.order([2]uint64{1, 1})
	b.feed.Deliver(numbered(1, 3+MaxEarly))
	if st := b.feed.Stats(); st.Held != 0 || st.Gaps != 1 || st.Applied != 2+MaxEarly {
		t.Errorf("%+v", st)
	}
	b.feed.Deliver(numbered(1, 2)) // too late
	if st := b.feed.Stats(); st.Duplicates != 1 {
		t.Errorf("%+v", st)
	}
}

func TestARestartEmptiesTheIndexEvenWhileItsFirstBatchIsMissing(t *testing.T) {
	b := newBench(t)
	b.send(stored(true, 0, tokens(1, 4), 1))
	b.feed.Deliver(numbered(2, 2))
	b.feed.Deliver(numbered(2, 3))
	b.order([2]uint64{1, 1}, [2]uint64{2, 0})
	if n := b.x.Host(debug0.Host).Blocks; n != 0 {
		t.Errorf("%d blocks of the earlier life", n)
	}
	b.feed.Deliver(numbered(2, 1))
	b.order([2]uint64{1, 1}, [2]uint64{2, 0}, [2]uint64{2, 1}, [2]uint64{2, 2}, [2]uint64{2, 3})
	if b.x.Stale().Has(debug0.Host) {
		t.Error("stale")
	}
}

func TestAStreamMayBeginWithZeroOrOne(t *testing.T) {
	for _, first := range []uint64{0, 1} {
		b := newBench(t)
		b.feed.Deliver(numbered(1, first))
		b.feed.Deliver(numbered(1, first+1))
		b.feed.Deliver(numbered(1, first))
		if st := b.feed.Stats(); st.Applied != 2 || st.Duplicates != 1 || st.Gaps != 0 {
			t.Errorf("first %d: %+v", first, st)
		}
	}
}

func TestJoiningInTheMiddleIsAGap(t *testing.T) {
	b := newBench(t)
	b.feed.Open().Deliver(numbered(1, 57))
	if st := b.feed.Stats(); st.Gaps != 1 || !b.x.Stale().Has(debug0.Host) {
		t.Errorf("%+v", st)
	}
}

func TestABatchThatTheIndexHasFromASnapshotStillTeachesTheFeed(t *testing.T) {
	b := newBench(t)
	list := tokens(1, 8)
	all := chain("", "", list)
	b.x.Resync(debug0.Host, 1, 1, []index.TierBlocks{{Blocks: all[:1], RootKnown: true}})
	b.send(stored(true, 0, list[:4], 1))
	b.send(stored(false, 1, list[4:], 2))
	var depths [index.MaxHosts]uint16
	b.x.Depths(all, index.HostSet(debug0.Host), &depths)
	if st := b.feed.Stats(); depths[debug0.Host] != 2 || st.Refused != 1 {
		t.Errorf("depth %d, %+v", depths[debug0.Host], st)
	}
}
