package events

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"octet/routing/index"
	"octet/routing/index/runs"
)

const patience = 30 * time.Second

// stage is a feed at a clock of its own, and the publishers that speak on it.
type stage struct {
	t    *testing.T
	feed *Feed
	x    *runs.Indexer
	now  time.Time
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, x: newIndex(t, 4), now: time.Unix(1_800_000_000, 0)}
	to := debug0
	to.Patience = patience
	s.feed = NewFeed(s.x, hasher, only("debug-0", to))
	s.feed.now = func() time.Time { return s.now }
	return s
}

// actor is one publisher at one source. Its batches register one block each.
type actor struct {
	*stage
	session Carrier
	by      string
	epoch   uint64
	seq     uint64
	first   uint32 // of the tokens that it tells of
	last    bool   // it speaks while its session is open
}

func (s *stage) actor(source, by string, epoch uint64, first uint32) *actor {
	return &actor{stage: s, session: s.feed.From(source).Open(), by: by, epoch: epoch, first: first}
}

func (a *actor) batch(seq uint64, more ...Event) Batch {
	from := a.first + uint32(seq)*100
	b := Batch{Replica: "debug-0", Epoch: a.epoch, Seq: seq, By: Speaker{Name: a.by, At: a.now, Lasting: a.last}}
	b.Events = append([]Event{stored(true, 0, tokens(from, 4), uint64(from))}, more...)
	return b
}

// says publishes its next batch.
func (a *actor) says(more ...Event) {
	a.seq++
	a.session.Deliver(a.batch(a.seq, more...))
}

// knows fails unless the replica is known by that epoch and number, and is as stale as that.
func (s *stage) knows(epoch, seq uint64, stale bool) {
	s.t.Helper()
	h := s.x.Host(debug0.Host)
	if h.Epoch != epoch || h.LastSeq != seq || h.Stale != stale {
		s.t.Fatalf("it is at %d of epoch %d, stale: %v; want %d of %d, %v; %+v, %+v", h.LastSeq, h.Epoch, h.Stale, seq,
			epoch, stale, s.feed.Publishers(), s.feed.Stats())
	}
}

func (s *stage) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.feed.ReplaceSilent()
}

// Replica B cannot speak as A: not in A's life, not in a later one, not by another source, whatever it says; and A is
// not disturbed. MOD2-39
func TestWhoWasFirstIsHeardAndNobodyElse(t *testing.T) {
	s := newStage(t)
	a := s.actor("redis", "host-a", 7, 0)
	for range 3 {
		a.says()
	}
	for _, b := range []*actor{
		s.actor("redis", "host-b", 7, 5000), s.actor("redis", "host-b", 8, 5000), s.actor("redis", "", 9, 5000),
		s.actor("nats", "", 8, 5000),
		s.actor("nats", "", 7, 5000), s.actor("grpc", "token b", 1<<62, 5000), s.actor("redis", "host-b", 6, 5000),
	} {
		for range 5 {
			before := s.x.Digest()
			b.says(Event{Kind: Cleared})
			b.says(Event{Kind: Shutdown})
			if s.x.Digest() != before {
				t.Fatalf("%s/%s was heard in epoch %d", "source", b.by, b.epoch)
			}
			a.says()
			s.knows(7, a.seq, false)
		}
	}
	if st := s.feed.Stats(); st.Foreign < 50 || st.Gaps > 0 {
		t.Errorf("%+v", st)
	}
	if v := s.feed.Publishers()["debug-0"]; !slices.Equal(v.Bound, []string{"redis/host-a"}) ||
		len(v.Challengers) == 0 ||
		len(v.Challengers) > maxChallengers {
		t.Errorf("%+v", v)
	}
}

// A replica that comes back elsewhere is believed once its old place has been silent for long, and nothing that it said
// meanwhile is lost.
func TestALaterLifeElsewhereIsHeardWhenTheFormerIsSilent(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("redis", "host-a", 1, 0), s.actor("redis", "host-b", 2, 5000)
	a.says()
	a.says()
	for range 3 {
		s.pass(9 * time.Second)
		b.says()
		s.knows(1, 2, false)
	}
	s.pass(4 * time.Second)
	s.knows(2, 3, false)
	b.says()
	s.knows(2, 4, false)
	a.says()
	s.knows(2, 4, false)
	if st := s.feed.Stats(); st.OldEpochs != 1 || st.Gaps != 0 || s.x.Host(debug0.Host).Blocks != 4 {
		t.Errorf("%+v", st)
	}
}

// In a stream that is read from its start the silence is measured by the stream's times, and not by how fast it is
// read.
func TestHistoryIsJudgedByItsOwnTimes(t *testing.T) {
	s := newStage(t)
	now := s.now
	a, b := s.actor("redis", "host-a", 1, 0), s.actor("redis", "host-b", 2, 5000)
	say := func(x *actor, at time.Duration) {
		x.stage.now = now.Add(at - time.Hour) // what its batches say of when they were taken
		x.seq++
		batch := x.batch(x.seq)
		s.now = now
		x.session.Deliver(batch)
	}
	say(a, 0)
	say(b, time.Second)    // an impostor, or a restart: it cannot be told yet
	s.feed.ReplaceSilent() // while a stream is being read, no source counts as silent
	say(a, 2*time.Second)
	s.knows(1, 2, false)
	say(b, 33*time.Second)
	s.knows(2, 2, false)
	say(b, 34*time.Second)
	s.knows(2, 3, false)
}

// The end of a replica's life, and its being gone, are the end of the lease. The publisher that comes next is heard,
// and what it said before is.
func TestTheBondEndsWithTheLife(t *testing.T) {
	s := newStage(t)
	a, b, c := s.actor("redis", "host-a", 1, 0), s.actor("redis", "host-b", 2, 5000),
		s.actor("redis", "host-c", 3, 7000)
	a.says()
	b.says()
	b.says()
	s.knows(1, 1, false)
	a.says(Event{Kind: Shutdown})
	if s.x.Alive().Has(debug0.Host) {
		t.Error("it lives")
	}
	if v := s.feed.Publishers()["debug-0"]; !slices.Equal(v.Bound, []string{"redis/host-b"}) {
		t.Errorf("%+v", v)
	}
	c.says()
	s.feed.Release("debug-0")
	s.feed.Release("nobody")
	if v := s.feed.Publishers()["debug-0"]; !slices.Equal(v.Bound, []string{"redis/host-c"}) ||
		len(v.Challengers) != 0 {
		t.Errorf("%+v", v)
	}
}

// A publisher that holds a replica by an open stream may be silent for as long as it likes.
func TestAnOpenStreamIsNotSilent(t *testing.T) {
	s := newStage(t)
	a, b := s.actor("grpc", "token a", 1, 0), s.actor("redis", "host-b", 2, 5000)
	a.last = true
	a.says()
	s.pass(time.Hour)
	b.says()
	s.feed.Release("debug-0")
	s.pass(time.Hour)
	s.knows(1, 1, false)
	a.session.Close()
	s.pass(patience - time.Second)
	s.knows(1, 1, false)
	s.pass(time.Second)
	s.knows(2, 1, false)
}

// Two sources that carry the same are both heard, from the first batch on that shows it: then what one loses the other
// brings. MOD2-18
func TestSourcesThatBringTheSameAreBothBound(t *testing.T) {
	for name, ahead := range map[string]bool{"the second is behind": false, "the second is ahead": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			a, b := s.actor("redis", "host-a", 1, 0), s.actor("nats", "", 1, 0)
			a.says()
			if ahead {
				for b.seq = 1; b.seq < 4; {
					b.says()
				}
				s.knows(1, 1, false)
				a.says()
				s.knows(1, 4, false)
			} else {
				a.says()
				a.says()
				b.says()
				a.says()
			}
			for b.seq = a.seq; b.seq < 9; {
				b.says() // what redis has lost
			}
			a.seq = 9
			a.says()
			s.knows(1, 10, false)
			if v := s.feed.Publishers()["debug-0"]; !slices.Equal(v.Bound, []string{"redis/host-a", "nats"}) ||
				len(v.Challengers) != 0 {
				t.Errorf("%+v", v)
			}
			b.epoch, b.seq = 2, 0
			b.says()
			a.epoch, a.seq = 2, 0
			a.says()
			a.says()
			s.knows(2, 2, false)
		})
	}
}

// What challengers say is bounded, and what is too much shows as a gap when they are heard after all.
func TestRivalsAreBounded(t *testing.T) {
	s := newStage(t)
	a := s.actor("redis", "host-a", 1, 0)
	a.says()
	for i := range 10 {
		b := s.actor("redis", fmt.Sprint("host-", i), 2, 5000)
		for range 500 {
			b.says()
		}
	}
	state := s.feed.replicas["debug-0"]
	if len(state.lease.challengers) > maxChallengers || state.lease.batches != maxParked ||
		state.lease.bytes > maxOwed {
		t.Errorf("%d challengers with %d batches of %d bytes", len(state.lease.challengers), state.lease.batches,
			state.lease.bytes)
	}
	s.pass(time.Minute)
	s.knows(2, 500, false)
	if state.lease.batches != 0 && len(state.lease.challengers) == 0 || state.lease.batches < 0 {
		t.Errorf("%d batches are left of %d challengers", state.lease.batches, len(state.lease.challengers))
	}
}

// Whatever honest and dishonest publishers do at whatever times, the index never holds what an impostor says while the
// one that is bound goes on speaking, and what is parked is counted right.
func TestNoImpostorIsHeardWhoeverComesWhen(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 5))
		s := newStage(t)
		a := s.actor("redis", "host-a", 100, 0)
		twin := s.actor("nats", "", 100, 0)
		a.says()
		var challengers []*actor
		for i := range 6 {
			challengers = append(challengers, s.actor([]string{"redis", "nats2", "grpc"}[i%3], fmt.Sprint("host-", i),
				99+rng.Uint64N(3), 1_000_000))
		}
		for range 400 {
			s.pass(time.Duration(rng.Int64N(int64(2 * time.Second))))
			switch n := rng.IntN(10); {
			case n < 4:
				a.says()
			case n < 6 && twin.seq < a.seq+3:
				twin.says()
			case n < 9:
				r := challengers[rng.IntN(len(challengers))]
				r.seq = rng.Uint64N(a.seq + 4)
				r.says()
			default:
				a.session.Deliver(a.batch(1 + rng.Uint64N(a.seq)))
			}
			if s.now.Sub(s.feed.replicas["debug-0"].lease.of("redis").came) > patience/2 {
				a.says()
			}
		}
		for twin.seq < a.seq {
			twin.says()
		}
		a.says()
		s.knows(100, max(a.seq, twin.seq), false)
		want := map[index.HostID]uint64{debug0.Host: max(a.seq, twin.seq)}
		got := map[index.HostID]uint64{debug0.Host: uint64(s.x.Host(debug0.Host).Blocks)}
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d: %v blocks, want %v", seed, got, want)
		}
		b := &s.feed.replicas["debug-0"].lease
		batches, bytes := 0, 0
		for _, r := range b.challengers {
			for i := range r.parked {
				batches, bytes = batches+1, bytes+weight(&r.parked[i].Batch)
			}
		}
		if batches != b.batches || bytes != b.bytes {
			t.Fatalf("seed %d: %d batches of %d bytes are parked, %d of %d are counted", seed, batches, bytes,
				b.batches, b.bytes)
		}
	}
}

func TestSealsAreAReplicasOwn(t *testing.T) {
	const secret = Secret("sesame")
	message := []byte("batch")
	if got := secret.Key("debug-0"); got != "d353d4d8f3e6da813b3a20cebde314248d276972254e4850cbdbc8abb3e91096" {
		// as openssl says
		t.Errorf("%s", got)
	}
	seal := secret.Key("debug-0").Seal(message)
	for _, row := range []struct {
		replica string
		message string
		seal    string
		secret  Secret
		want    bool
	}{
		{"debug-0", "batch", seal, secret, true}, {"debug-1", "batch", seal, secret, false},
		{"debug-0", "batcH", seal, secret, false},
		{"debug-0", "batch", "", secret, false}, {"debug-0", "batch", seal[:63], secret, false},
		{"debug-0", "batch", seal, "other", false},
		{"debug-0", "batch", "", "", true}, {"debug-0", "batch", secret.Key("debug-1").Seal(message), secret, false},
	} {
		if got := row.secret.Opens(row.replica, []byte(row.message), row.seal); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
	if SealKey("").Seal(message) != "" {
		t.Error("no key makes seals")
	}
}
