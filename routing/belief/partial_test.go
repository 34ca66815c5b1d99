package belief

import (
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// stage is beliefs of one replica, 3, on a clock that is set.
type stage struct {
	*Beliefs
	t       *testing.T
	clock   time.Time
	seq     uint64
	cleared int
}

func newStage(t *testing.T) *stage {
	x, guesses := oneHost(t)
	s := &stage{t: t, clock: time.Unix(1_700_000_000, 0)}
	s.Beliefs = New(Config{Index: x, Guesses: guesses, TTL: 10 * time.Second,
		Differ:  func() (none index.HostBitmap) { return none },
		Cleared: func(index.HostID) { s.cleared++ }, Patience: func() time.Duration { return 0 }})
	s.now = func() time.Time { return s.clock }
	s.Begin(3, time.Hour, 100)
	return s
}

// says applies the next batch of an epoch.
func (s *stage) says(epoch uint64, ops ...index.Op) {
	s.t.Helper()
	s.seq++
	out := s.Apply(index.Batch{Host: 3, Epoch: epoch, Seq: s.seq, Ops: ops})
	if out != index.Applied && out != index.Gap {
		s.t.Fatal(out)
	}
}

// loses applies a batch after some that are lost, as a Feed does.
func (s *stage) loses(epoch uint64, held []kvpool.BlockHash, ops ...index.Op) {
	s.t.Helper()
	s.seq++
	s.says(epoch, append([]index.Op{{Kind: index.Forget, Blocks: held}}, ops...)...)
}

func (s *stage) deep(chain []kvpool.BlockHash, want int, trust string) {
	s.t.Helper()
	var out [index.MaxHosts]uint16
	s.Depths(chain, index.HostSet(3), &out)
	if int(out[3]) != want || s.Trust(3) != trust {
		s.t.Errorf("%d deep by %s, want %d by %s", out[3], s.Trust(3), want, trust)
	}
}

func (s *stage) foretells(chain []kvpool.BlockHash, known, all int) {
	s.t.Helper()
	believed := s.Held(chain, 3)
	if k, a := s.Foretell(chain, 3, believed); k != known || a != all {
		s.t.Errorf("%d known and %d in all, want %d and %d", k, a, known, all)
	}
}

var (
	talk  = []kvpool.BlockHash{11, 12, 13, 14, 15, 16}
	other = []kvpool.BlockHash{21, 22}
)

func begins(blocks ...kvpool.BlockHash) index.Op {
	return index.Op{Kind: index.Store, RootKnown: true, Blocks: blocks}
}

func TestWhatWasKnownBeforeAGapIsGuessedAfterIt(t *testing.T) {
	s := newStage(t)
	s.says(1, begins(talk[:3]...))
	s.deep(talk, 3, Exact)
	s.loses(1, talk[:3], index.Op{Kind: index.Store, HasParent: true, Parent: talk[3], Blocks: talk[4:5]})
	s.deep(talk, 3, Approximate)
	s.foretells(talk, 0, 3)
	s.Routed(3, talk[:4], s.clock)
	s.deep(talk, 5, Approximate) // four of which it is not sure, and one that was stored since
	s.clock = s.clock.Add(time.Minute)
	s.deep(talk, 5, Approximate) // longer than where events tell all
	s.says(1, begins(other...))
	s.deep(other, 2, Approximate)
	s.foretells(other, 2, 2)
	s.says(1, index.Op{Kind: index.Remove, Blocks: talk[1:2]})
	s.deep(talk, 1, Approximate)
	if s.cleared != 0 {
		t.Error("the cache is said to be empty")
	}
	s.says(1, index.Op{Kind: index.Clear})
	s.deep(talk, 0, Exact)
	if s.cleared != 1 {
		t.Error("the cache is not said to be empty")
	}
}

func TestAnotherLifeEndsTheGuessesOfTheOneBefore(t *testing.T) {
	s := newStage(t)
	s.says(1, begins(talk...))
	s.loses(1, talk)
	s.seq = 0
	s.loses(2, nil) // it may be the same life
	s.deep(talk, 6, Approximate)
	s.seq = 6
	s.says(3, begins(other...)) // another, of which batches are missing
	s.deep(talk, 0, Approximate)
	s.deep(other, 2, Approximate)
	if s.cleared != 1 {
		t.Errorf("the cache is said to be empty %d times", s.cleared)
	}
}

// Hits that were known make the replica exact, though nothing else tells that nothing is unknown.
func TestDeliveredHitsEndTheDoubt(t *testing.T) {
	s := newStage(t)
	s.loses(1, nil, begins(talk...))
	if _, ok := s.Known(3); ok {
		t.Error("a share of nothing")
	}
	for i := range provenHits {
		s.says(1)
		if s.Trust(3) != Approximate {
			t.Fatalf("exact after %d answers", i)
		}
		s.Delivered(3, 90, 90, 90)
	}
	s.says(1)
	s.deep(talk, 6, Exact)
	if share, ok := s.Known(3); share != 1 || !ok {
		t.Errorf("%v of what was delivered was known", share)
	}
	for range 40 { // hits on what was there before
		s.Delivered(3, 0, 0, 90)
	}
	s.says(1)
	s.deep(talk, 6, Approximate)
	s.Routed(3, other, s.clock)
	s.clock = s.clock.Add(time.Minute)
	s.deep(other, 2, Approximate)
	for range 300 {
		s.Delivered(3, 90, 90, 90)
	}
	s.says(1)
	s.deep(talk, 6, Exact)
	s.says(1, index.Op{Kind: index.Clear})
	for range 300 {
		s.Delivered(3, 0, 0, 90)
	}
	s.says(1, begins(talk...))
	s.deep(talk, 6, Exact) // nothing is unknown of an empty cache
	s.loses(1, talk)
	if _, ok := s.Known(3); ok || s.Trust(3) != Approximate {
		t.Error("what hits have proved outlives the next gap")
	}
	for range 10 * provenHits { // what is hot is unknown
		s.Delivered(3, 10, 90, 90)
		s.says(1)
	}
	if share, _ := s.Known(3); s.Trust(3) != Approximate || share < 0.1 || share > 0.12 {
		t.Errorf("%v of what was delivered was known, and it is %s", share, s.Trust(3))
	}
}

// Guesses that do not come true do not count, until they do.
func TestHitsThatAreDeniedEndGuesses(t *testing.T) {
	s := newStage(t)
	s.loses(1, talk[2:], begins(talk[:2]...))
	s.deep(talk, 6, Approximate)
	for range judgedGuesses {
		s.deep(talk, 6, Approximate)
		s.Delivered(3, 32, 96, 32)
	}
	s.deep(talk, 2, Approximate)
	s.foretells(talk, 2, 6)
	if share, ok := s.Guessing(3); share != 0 || !ok {
		t.Errorf("%v of what was guessed was delivered", share)
	}
	for range 60 {
		s.Delivered(3, 32, 96, 96)
	}
	s.deep(talk, 6, Approximate)
	s.Silence(index.HostSet(3)) // its events count for nothing: what was guessed is all there is
	s.deep(talk, 6, Approximate)
}

// Of replicas of which all is told, or nothing, nothing is moved by hits.
func TestHitsMoveNoOtherReplica(t *testing.T) {
	s := newStage(t)
	s.Routed(3, talk, s.clock)
	s.foretells(talk, 0, 6)
	for range 100 {
		s.Delivered(3, 0, 96, 0)
	}
	s.deep(talk, 6, Approximate)
	s.says(1, begins(talk...))
	s.foretells(talk, 6, 6)
	for range 100 {
		s.Delivered(3, 96, 96, 0)
	}
	s.deep(talk, 6, Exact)
	s.Delivered(index.MaxHosts, 1, 1, 1)
	if _, ok := s.Known(index.MaxHosts); ok {
		t.Error("a slot that does not exist is known")
	}
	if _, ok := s.Guessing(index.MaxHosts); ok {
		t.Error("a slot that does not exist is guessed")
	}
}
