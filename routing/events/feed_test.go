package events

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/runs"
)

var debug0 = Target{Host: 1, Specialist: "debug", BlockSize: 4}

// bench is a feed over a real index, seen by a shadow.
type bench struct {
	t    *testing.T
	feed *Feed
	x    *runs.Indexer
	seen *shadow
	seq  uint64
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, x: newIndex(t, 4)}
	b.seen = newShadow(b.x)
	b.feed = NewFeed(b.seen, hasher, only("debug-0", debug0))
	return b
}

// send delivers the events as the next batch.
func (b *bench) send(all ...Event) {
	b.seq++
	b.feed.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: b.seq, Events: all})
}

// holds fails unless the index was told exactly of these blocks, and nothing else.
func (b *bench) holds(want ...fact) {
	b.t.Helper()
	all := map[fact]bool{}
	for _, f := range want {
		all[f] = true
	}
	if got := b.seen.held[debug0.Host]; !maps.Equal(got, all) {
		b.t.Fatalf("index holds %v, want %v", got, all)
	}
}

// tokens returns n of them, counted from first.
func tokens(first uint32, n int) (list []uint32) {
	for i := range n {
		list = append(list, first+uint32(i))
	}
	return list
}

// chain returns our hashes of list.
func chain(adapter, salt string, list []uint32) []kvpool.BlockHash {
	return hasher.Chain(nil, hasher.Root("debug", adapter, salt), list, debug0.BlockSize)
}

func gpu(blocks ...kvpool.BlockHash) (all []fact) {
	for _, b := range blocks {
		all = append(all, fact{b, index.GPU})
	}
	return all
}

func stored(root bool, parent uint64, list []uint32, hashes ...uint64) Event {
	return Event{Kind: Registered, Hashes: hashes, Parent: parent, Root: root, Tokens: list,
		BlockSize: len(list) / len(hashes)}
}

func evicted(hashes ...uint64) Event { return Event{Kind: Evicted, Hashes: hashes} }

// MOD2-36, MOD2-37, DYN-10
func TestARoutedPromptFindsWhatTheEngineRegistered(t *testing.T) {
	b := newBench(t)
	prompt := tokens(100, 12)
	b.send(stored(true, 0, prompt[:8], 0xa1, 0xa2))
	b.send(stored(false, 0xa2, prompt[8:], 0xa3))
	var depths [index.MaxHosts]uint16
	among := index.HostSet(0, 1)
	b.x.Depths(chain("", "", prompt), among, &depths)
	if depths[1] != 3 || depths[0] != 0 {
		t.Fatalf("depths %d and %d, want 3 and 0", depths[1], depths[0])
	}
	for _, other := range [][]kvpool.BlockHash{chain("gdb", "", prompt), chain("", "acme", prompt),
		chain("", "", tokens(99, 12))} {
		if b.x.Depths(other, among, &depths); depths[1] != 0 {
			t.Errorf("a foreign chain has depth %d", depths[1])
		}
	}
	b.send(evicted(0xa3))
	if b.x.Depths(chain("", "", prompt), among, &depths); depths[1] != 2 {
		t.Errorf("depth %d after the eviction, want 2", depths[1])
	}
}

// MOD2-39
func TestEngineBlocksThatAreLargerThanOursBecomeSeveral(t *testing.T) {
	b := newBench(t)
	list := tokens(1, 24)
	b.send(stored(true, 0, list, 7, 8)) // two of 12 tokens: six of ours
	b.holds(gpu(chain("", "", list)...)...)
	b.send(evicted(7))
	b.holds(gpu(chain("", "", list)[3:]...)...)
}

func TestEngineBlocksOfAnUnfitSizeAreCountedAndTheirRemovalIsQuiet(t *testing.T) {
	b := newBench(t)
	b.send(stored(true, 0, tokens(1, 6), 7))              // 6 is no multiple of 4
	b.send(stored(true, 0, tokens(1, 2), 9))              // smaller than ours
	b.send(stored(false, 7, tokens(7, 4), 8), evicted(7)) // after one that cannot be told
	b.holds()
	if st := b.feed.Stats(); st.Unmappable != 2 || st.Orphans != 1 || st.Strangers != 0 || st.Blocks != 2 {
		t.Errorf("%+v", st)
	}
}

func TestBlocksAfterAnUnknownOneAreOrphansUntilItsContentIsTold(t *testing.T) {
	b := newBench(t)
	list := tokens(1, 12)
	b.send(stored(false, 1, list[4:8], 2)) // 1 was never seen
	b.send(stored(false, 2, list[8:], 3))
	b.holds()
	b.send(stored(true, 0, list[:8], 1, 2)) // a second copy of 2, this time with what comes before
	b.holds(gpu(chain("", "", list)[:2]...)...)
	b.send(evicted(2), evicted(3))
	b.holds(gpu(chain("", "", list)[:2]...)...) // one copy of 2 is left; 3 was never there for us
	if st := b.feed.Stats(); st.Orphans != 2 || st.Strangers != 0 {
		t.Errorf("%+v", st)
	}
}

// MOD2-44
func TestABlockGoesWithTheLastCopyInEachTier(t *testing.T) {
	b := newBench(t)
	list := tokens(1, 4)
	h := chain("", "", list)[0]
	b.send(stored(true, 0, list, 5), stored(true, 0, list, 5))
	b.send(Event{Kind: Registered, Tier: index.SSD, Hashes: []uint64{5}})
	b.send(evicted(5))
	b.holds(fact{h, index.GPU}, fact{h, index.SSD})
	b.send(evicted(5))
	b.holds(fact{h, index.SSD})
	b.send(Event{Kind: Evicted, Tier: index.SSD, Hashes: []uint64{5}})
	b.holds()
	b.send(Event{Kind: Registered, Tier: index.CPU, Hashes: []uint64{5}}) // announced after the last copy went
	b.holds(fact{h, index.CPU})
}

func TestAnOffloadedBlockThatWasNeverSeenIsAnOrphan(t *testing.T) {
	b := newBench(t)
	b.send(Event{Kind: Registered, Tier: index.CPU, Hashes: []uint64{5}})
	b.holds()
	if st := b.feed.Stats(); st.Orphans != 1 {
		t.Errorf("%+v", st)
	}
}

func TestTwoEngineBlocksOfTheSameTokensAreOneOfOurs(t *testing.T) {
	b := newBench(t)
	list := tokens(1, 4)
	b.send(stored(true, 0, list, 5), stored(true, 0, list, 6)) // apart for the engine: different images, say
	b.send(evicted(5))
	b.holds(gpu(chain("", "", list)...)...)
	b.send(evicted(6))
	b.holds()
}

func TestANameWithTwoContentsIsNotClaimedUntilBothAreGone(t *testing.T) {
	b := newBench(t)
	one, two := tokens(1, 4), tokens(50, 4)
	b.send(stored(true, 0, one, 5))
	b.send(stored(true, 0, two, 5))
	b.holds()
	b.send(evicted(5), stored(true, 0, one, 5), evicted(5))
	b.holds()
	b.send(evicted(5), stored(true, 0, two, 5))
	b.holds(gpu(chain("", "", two)...)...)
	if st := b.feed.Stats(); st.Conflicts != 1 {
		t.Errorf("%+v", st)
	}
}

func TestAFullMappingIgnoresNewBlocksAndIsReported(t *testing.T) {
	b := newBench(t)
	b.feed.limit = 2
	list := tokens(1, 12)
	b.send(stored(true, 0, list, 1, 2, 3))
	b.holds(gpu(chain("", "", list)[:2]...)...)
	b.send(evicted(3), evicted(1))
	b.holds(gpu(chain("", "", list)[1])...)
	b.send(stored(true, 0, list[:8], 7, 8)) // only the departed one makes room
	if st := b.feed.Stats(); st.Ignored != 2 || !slices.Equal(st.Full, []string{"debug-0"}) || st.Blocks != 2 {
		t.Errorf("%+v", st)
	}
	b.send(Event{Kind: Cleared})
	b.holds()
	if st := b.feed.Stats(); st.Full != nil || st.Blocks != 0 {
		t.Errorf("%+v", st)
	}
}

func TestALaterEpochWipesAndAnEarlierOneIsDropped(t *testing.T) {
	b := newBench(t)
	list := tokens(1, 8)
	batch := func(epoch, seq uint64, all ...Event) {
		b.feed.Deliver(Batch{Replica: "debug-0", Epoch: epoch, Seq: seq, Events: all})
	}
	batch(5, 1, stored(true, 0, list[:4], 1))
	batch(6, 1, stored(false, 1, list[4:], 2)) // 1 is of another life
	b.holds()
	batch(5, 2, stored(true, 0, list[:4], 1))
	b.holds()
	if st := b.feed.Stats(); st.OldEpochs != 1 || st.Orphans != 1 {
		t.Errorf("%+v", st)
	}
}

// MOD2-13, MOD2-16
func TestAShutdownReplicaIsDeadUntilItsSlotIsUsedAgain(t *testing.T) {
	b := newBench(t)
	b.send(stored(true, 0, tokens(1, 4), 1))
	b.send(Event{Kind: Shutdown})
	b.send(stored(true, 0, tokens(1, 4), 1), Event{Kind: Shutdown})
	if b.x.Alive().Has(debug0.Host) {
		t.Error("alive after its shutdown")
	}
	if st := b.feed.Stats(); st.Dead != 1 || st.Blocks != 0 {
		t.Errorf("%+v", st)
	}
}

func TestStrangersTakeNoMemory(t *testing.T) {
	b := newBench(t)
	for i := range 1000 {
		b.feed.Deliver(Batch{Replica: fmt.Sprint("stranger-", i), Epoch: 1, Seq: 1, Events: []Event{{Kind: Cleared}}})
	}
	if st := b.feed.Stats(); st.Unknown != 1000 || len(b.feed.replicas) != 0 {
		t.Errorf("%+v, %d replicas", st, len(b.feed.replicas))
	}
}

func TestABatchThatMakesNoSenseIsDroppedWhole(t *testing.T) {
	b := newBench(t)
	b.send(stored(true, 0, tokens(1, 4), 1), Event{Kind: 7, Hashes: []uint64{1}})
	b.send(Event{Kind: 9})
	b.holds()
	if st := b.feed.Stats(); st.Invalid != 2 || st.Applied != 0 {
		t.Errorf("%+v", st)
	}
}

func TestAReplicaThatMovesBeginsAnewInItsNextSlot(t *testing.T) {
	for _, forget := range []bool{true, false} {
		x := newIndex(t, 3)
		to := debug0
		feed := NewFeed(x, hasher, func(string) (Target, bool) { return to, true })
		first := Batch{Replica: "debug-0", Epoch: 1, Seq: 1, Events: []Event{stored(true, 0, tokens(1, 4), 1)}}
		feed.Deliver(first)
		to.Host = 2
		if forget {
			feed.Forget("debug-0")
			feed.Forget("debug-0")
			if st := feed.Stats(); st.Blocks != 0 {
				t.Errorf("%+v", st)
			}
		}
		feed.Deliver(first)
		feed.Forget("debug-0") // too late, and to no effect
		feed.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: 2, Events: []Event{evicted(1)}})
		if h := x.Host(2); h.LastSeq != 2 || h.Blocks != 0 || h.Stale || x.Host(1).Blocks != 1 {
			t.Errorf("%+v, and where it was %+v", h, x.Host(1))
		}
	}
}

func TestABatchThatWaitedForForgetLooksAgain(t *testing.T) {
	b := newBench(t)
	s := b.feed.stateOf("debug-0")
	b.feed.resolve = func(string) (Target, bool) { return Target{}, false }
	b.feed.Forget("debug-0")
	if b.feed.put(s, nil, "", numbered(1, 1)) || len(b.seen.batches) > 0 || len(b.feed.replicas) > 0 {
		t.Error("taken by a state that is not there any more")
	}
	b.feed.Deliver(numbered(1, 1))
	if st := b.feed.Stats(); st.Unknown != 1 {
		t.Errorf("%+v", st)
	}
}

func TestLagIsFromThePublishersClockToOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		made := time.Now()
		time.Sleep(3 * time.Second)
		b.feed.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: 1, At: made})
		if st := b.feed.Stats(); st.Lag != 3*time.Second {
			t.Errorf("lag %v", st.Lag)
		}
	})
}

// MOD2-23
func TestABatchReachesTheIndexInOnePiece(t *testing.T) {
	b := newBench(t)
	list := tokens(1, 400)
	var hashes []uint64
	for i := range uint64(100) {
		hashes = append(hashes, i+1)
	}
	b.send(stored(true, 0, list, hashes...), evicted(hashes[50:]...))
	if len(b.seen.batches) != 1 {
		t.Errorf("%d calls", len(b.seen.batches))
	}
	b.holds(gpu(chain("", "", list)[:50]...)...)
}

// plainScheme calls every block by its first token.
type plainScheme struct{ plus uint64 }

func (p plainScheme) String() string { return fmt.Sprint("plain ", p.plus) }

func (p plainScheme) Chain(tokens []uint32, blockSize int, _, _ string) (all []uint64, err error) {
	for i := 0; i < len(tokens); i += blockSize {
		all = append(all, uint64(tokens[i])+p.plus)
	}
	return all, nil
}

// MOD2-39
func TestHashesOfAnotherSchemeAreCounted(t *testing.T) {
	for _, row := range []struct {
		scheme           Scheme
		verified, differ uint64
	}{{nil, 0, 0}, {plainScheme{}, 2, 0}, {plainScheme{1}, 2, 2}} {
		to := debug0
		to.Scheme = row.scheme
		f := NewFeed(newIndex(t, 4), hasher, only("e", to))
		f.Deliver(Batch{Replica: "e", Epoch: 1, Seq: 1, Events: []Event{
			{Kind: Registered, Hashes: []uint64{10, 14}, Root: true, Tokens: tokens(10, 8), BlockSize: 4},
			// in the middle of a chain: it cannot be told
			{Kind: Registered, Hashes: []uint64{99}, Parent: 14, Tokens: tokens(18, 4), BlockSize: 4},
		}})
		if st := f.Stats(); st.Verified != row.verified || st.Mismatched != row.differ || st.Applied != 1 {
			t.Errorf("%+v: %+v", row, st)
		}
	}
}
