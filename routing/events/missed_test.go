package events

import (
	"errors"
	"testing"

	"octet/routing/index"
)

// What a batch told that cannot be read may have been evictions: nothing from before it is claimed, at once. What comes
// after it is no other gap.
func TestABatchThatIsLostIsAGapByItself(t *testing.T) {
	b := newBench(t)
	b.send(stored(true, 0, tokens(1, 8), 1, 2))
	b.holds(gpu(chain("", "", tokens(1, 8))...)...)
	b.seq++
	b.feed.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: b.seq, Lost: true})
	b.holds()
	if !b.x.Stale().Has(debug0.Host) {
		t.Error("the replica is not stale")
	}
	if unknown, ok := b.feed.Unknown("debug-0"); !ok || unknown.Seq != b.seq+1 {
		t.Errorf("%+v, %t", unknown, ok)
	}
	b.send(stored(false, 2, tokens(9, 4), 3)) // what it follows is known by its name
	b.holds(gpu(chain("", "", tokens(1, 12))[2])...)
	if st := b.feed.Stats(); st.Gaps != 1 || st.Orphans != 0 {
		t.Errorf("%+v", st)
	}
	if _, err := Marshal(Batch{Replica: "debug-0", Epoch: 1, Seq: 1, Lost: true}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a lost batch is sent on: %v", err)
	}
}

// A life that begins with a batch that cannot be read is another life all the same.
func TestALifeThatBeginsWithALostBatchEndsTheOneBefore(t *testing.T) {
	b := newBench(t)
	b.send(stored(true, 0, tokens(1, 8), 1, 2))
	b.feed.Deliver(Batch{Replica: "debug-0", Epoch: 2, Seq: 0, Lost: true})
	b.holds()
	if h := b.x.Host(debug0.Host); !h.Stale || h.Epoch != 2 || h.Blocks != 0 {
		t.Errorf("%+v", h)
	}
	b.feed.Deliver(Batch{Replica: "debug-0", Epoch: 2, Seq: 1, Events: []Event{{Kind: Cleared}}})
	if b.x.Stale() != (index.HostBitmap{}) {
		t.Error("an empty cache is known")
	}
}
