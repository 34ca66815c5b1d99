package events

import (
	"testing"
	"time"

	"octet/routing/index"
)

// program reads what a fuzzer makes happen, byte by byte.
type program struct{ code []byte }

func (p *program) next(n int) int {
	if len(p.code) == 0 {
		return 0
	}
	b := int(p.code[0]) % n
	p.code = p.code[1:]
	return b
}

// In whatever order and at whatever times batches come, with snapshots, resyncs, sessions that close and replicas that
// go between: nothing panics, the index is consistent, all bounds hold, and forgetting the replica leaves nothing.
func FuzzFeed(f *testing.F) {
	f.Add([]byte{0, 1, 1, 1, 0, 0, 0, 1, 1, 2, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	f.Add([]byte("the quick brown fox jumps over the lazy dog, again and again"))
	f.Fuzz(func(t *testing.T, code []byte) {
		p := &program{code}
		now := time.Unix(1_800_000_000, 0)
		to, known := debug0, true
		to.Named, to.Scheme, to.Patience = p.next(2) == 1, plainScheme{}, time.Duration(p.next(3))*time.Minute
		x := newIndex(t, 4)
		feed := NewFeed(x, hasher, func(r string) (Target, bool) { return to, known && r == "e" })
		feed.now = func() time.Time { return now }
		feed.limit = 32
		feed.Within(index.NewAccount(int64(16+p.next(200)) << 10))
		ways := []Carrier{feed.From("redis").Open(), feed.From("nats").Open(), feed.From("grpc").Open(),
			OpenSession(feed)}
		for len(p.code) > 0 {
			switch p.next(12) {
			case 0:
				now = now.Add(time.Duration(p.next(90)) * time.Second)
				feed.ReplaceSilent()
			case 1:
				feed.Release("e")
			case 2:
				i := p.next(3)
				ways[i].Close()
				ways[i] = feed.From([]string{"redis", "nats", "grpc"}[i]).Open()
			case 3:
				_ = feed.Resync("e", uint64(p.next(4)), uint64(p.next(16)), []Event{p.event()})
			case 4:
				release := feed.Hold("e")
				ways[p.next(4)].Deliver(p.batch(now))
				release()
			case 5:
				known = p.next(2) == 1
				feed.Forget("e")
			default:
				ways[p.next(4)].Deliver(p.batch(now))
			}
			known = true
			checkShelf(t, feed)
			checkLedger(t, feed)
		}
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
		known = false
		feed.Forget("e")
		if st := feed.Stats(); st.Blocks != 0 || st.Held != 0 || st.Waiting != 0 || len(feed.replicas) != 0 {
			t.Fatalf("%+v", st)
		}
	})
}

func (p *program) batch(now time.Time) Batch {
	b := Batch{Replica: "e", Epoch: uint64(p.next(4)), Seq: uint64(p.next(16))}
	b.By = Speaker{Name: string(rune('a' + p.next(6))), At: now, Lasting: p.next(4) == 0}
	for range p.next(4) {
		b.Events = append(b.Events, p.event())
	}
	return b
}

func (p *program) event() Event {
	e := Event{Kind: Kind(p.next(4)), Tier: index.Tier(p.next(index.Tiers)), Root: p.next(2) == 1,
		Parent: uint64(p.next(8)), BlockSize: 4 << p.next(2)}
	for range 1 + p.next(4) {
		e.Hashes = append(e.Hashes, uint64(p.next(40)))
	}
	if p.next(2) == 1 {
		e.Tokens = tokens(uint32(p.next(4)), e.BlockSize*len(e.Hashes))
	}
	return e
}

func checkShelf(t *testing.T, f *Feed) {
	t.Helper()
	for _, s := range f.replicas {
		batches, bytes := 0, 0
		for _, r := range s.lease.challengers {
			if len(r.parked) == 0 {
				t.Fatal("a challenger that said nothing")
			}
			for i := range r.parked {
				batches, bytes = batches+1, bytes+weight(&r.parked[i].Batch)
			}
		}
		if batches != s.lease.batches || bytes != s.lease.bytes || batches > maxParked || bytes > maxOwed ||
			len(s.lease.challengers) > maxChallengers || len(s.lease.bound) > 3 {
			t.Fatalf("%d batches of %d bytes are parked, %d of %d counted; %d bound", batches, bytes, s.lease.batches,
				s.lease.bytes, len(s.lease.bound))
		}
		if len(s.held.blocks) > f.limit || len(s.order.early) > maxHeld {
			t.Fatalf("%d blocks, %d waiting", len(s.held.blocks), len(s.order.early))
		}
	}
}
