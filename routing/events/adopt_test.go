package events

import (
	"bytes"
	"errors"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"octet/routing/index"
)

// holds is what an engine answers when it is asked what it holds: each block in the order in which it appeared.
func (s *simEngine) holds() (all []Event) {
	for _, name := range s.names {
		b := s.blocks[name]
		for t, n := range b.copies {
			if n == 0 {
				continue
			}
			e := Event{Kind: Registered, Tier: index.Tier(t), Adapter: b.adapter, Salt: b.salt, Hashes: []uint64{name},
				Tokens: b.tokens[len(b.tokens)-s.blockSize:], BlockSize: s.blockSize}
			if before := b.tokens[:len(b.tokens)-s.blockSize]; len(before) > 0 {
				e.Parent = engineName(b.adapter, b.salt, before)
			} else {
				e.Root = true
			}
			for range n {
				all = append(all, e)
			}
		}
	}
	return all
}

// An engine that is asked what it holds is ahead of its events, which are numbered by another clock. Once they have
// come, nothing is credited that it does not hold, however late they were; with none under way all of it is.
func TestWhatAnEngineAnswersIsAdoptedHoweverLateItsEventsAre(t *testing.T) {
	var adopted, late int
	rapid.Check(t, func(t *rapid.T) {
		to := Target{Host: 1, Specialist: "debug", BlockSize: 16}
		x := newRapidIndex(t)
		seen := newShadow(x)
		f := NewFeed(seen, hasher, only("e", to))
		in := f.Open()
		engine := newSimEngine(rapid.Uint64().Draw(t, "engine"), "e", 16)
		for range rapid.IntRange(1, 40).Draw(t, "before") {
			engine.step()
		}
		var queue []Batch
		deliver := func(n int) {
			for _, b := range queue[:n] {
				b.Epoch += 1 << 40 // a bridge's clock
				in.Deliver(b)
			}
			queue = queue[n:]
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			queue = append(queue, engine.step())
			if rapid.IntRange(0, 5).Draw(t, "lag") > 0 {
				deliver(rapid.IntRange(0, len(queue)).Draw(t, "delivered"))
			}
			if rapid.IntRange(0, 6).Draw(t, "asked") == 0 {
				if err := f.Adopt("e", engine.holds()); err == nil {
					adopted++
					late += len(queue)
					if x.Stale().Has(1) {
						t.Fatal("it is stale")
					}
				} else if !errors.Is(err, ErrUnknown) || seen.held[1] != nil {
					t.Fatal(err)
				}
			}
			if len(queue) > 0 {
				continue
			}
			truth := engine.truth(to, hasher)
			for held := range seen.held[1] {
				if !truth[held] {
					t.Fatalf("%v is believed and not held", held)
				}
			}
		}
		deliver(len(queue))
		held := engine.holds()
		model := newCouldKnow(to)
		model.hear(Batch{Events: held})
		if err := f.Adopt("e", held); err != nil || !maps.Equal(seen.held[1], model.facts(16)) {
			t.Fatalf("%v, it knows %d facts of %d", err, len(seen.held[1]), len(model.facts(16)))
		}
	})
	t.Logf("adopted %d times, with %d batches under way", adopted, late)
	if adopted == 0 || late == 0 {
		t.Error("not everything happened")
	}
}

func TestWhatCannotBeAdoptedChangesNothing(t *testing.T) {
	b := newBench(t)
	one := stored(true, 0, tokens(1, 4), 1)
	if err := b.feed.Adopt("debug-0", []Event{one}); !errors.Is(err, ErrUnknown) {
		t.Errorf("of a replica that was never heard: %v", err)
	}
	b.feed.Open().Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: 7, Events: []Event{one}})
	if err := b.feed.Adopt("debug-0", []Event{{Kind: Registered}}); !errors.Is(err, ErrBatch) {
		t.Errorf("nonsense: %v", err)
	}
	if err := b.feed.Adopt("nobody", nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("a stranger's: %v", err)
	}
	b.holds(gpu(chain("", "", tokens(1, 4))...)...)
	if !b.x.Stale().Has(1) {
		t.Error("it is not stale any more")
	}
}

// A peer numbers the lives of an engine by another clock. What it knows is taken over where it has applied the same
// batch, and is not behind.
func TestAPeerThatHeardTheSameBatchIsBelieved(t *testing.T) {
	for _, row := range []struct {
		name       string
		peer, mine uint64 // how far each has come
		held       bool   // what comes is held back meanwhile
		mark       uint64 // by which the peer knows its last batch; 0: the right one
		taken      bool
	}{
		{"both are as far", 9, 9, false, 0, true},
		{"the peer is further, and this gateway has what comes", 9, 7, true, 0, true},
		{"the peer is further", 9, 7, false, 0, false},
		{"the peer is behind", 7, 9, false, 0, false},
		{"another life has the same numbers", 9, 9, false, 77, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			batch := func(seq, epoch uint64) Batch {
				own := stored(true, 0, tokens(uint32(100*seq), 4), seq)
				return Batch{Replica: "debug-0", Epoch: epoch, Seq: seq, Mark: seq + 5, Events: []Event{own}}
			}
			peer := newBench(t)
			from := peer.feed.Open()
			for seq := uint64(1); seq <= row.peer; seq++ {
				b := batch(seq, 1000)
				if row.mark != 0 {
					b.Mark = row.mark
				}
				from.Deliver(b)
			}
			var saved bytes.Buffer
			if err := peer.feed.Save(&saved); err != nil {
				t.Fatal(err)
			}
			b := newBench(t)
			in := b.feed.Open()
			for seq := uint64(5); seq <= row.mine; seq++ {
				in.Deliver(batch(seq, 2000))
			}
			if row.held {
				defer b.feed.Hold("debug-0")()
				for seq := row.mine + 1; seq <= row.peer; seq++ {
					in.Deliver(batch(seq, 2000))
				}
			}
			text := saved.Bytes()
			nothing := func(string) bool { return false }
			if n, err := b.feed.LoadMissed(bytes.NewReader(text), nothing); n != 0 || err != nil {
				t.Errorf("what is not wanted: %d, %v", n, err)
			}
			n, err := b.feed.LoadMissed(bytes.NewReader(text), everything)
			if err != nil || (n == 1) != row.taken || b.x.Stale().Has(1) == row.taken {
				t.Fatalf("%d, %v, %+v", n, err, b.x.Host(1))
			}
			if blocks := b.x.Host(1).Blocks; row.taken && blocks != int(row.peer) {
				t.Errorf("%d blocks of %d", blocks, row.peer)
			}
			if _, err := b.feed.LoadMissed(bytes.NewReader(text[:9]), everything); !errors.Is(err, ErrSnapshot) {
				t.Errorf("half a snapshot: %v", err)
			}
		})
	}
}
