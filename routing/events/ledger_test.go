package events

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"octet/routing/index"
	"octet/routing/index/runs"
)

// checkLedger adds up again what is kept of all replicas, by weight, and compares it with what is charged for it.
func checkLedger(t *testing.T, f *Feed) (sum int64) {
	t.Helper()
	for name, s := range f.replicas {
		kept := 0
		for _, b := range s.order.early {
			kept += weight(&b.Batch)
		}
		for _, r := range s.lease.challengers {
			for i := range r.parked {
				kept += weight(&r.parked[i].Batch)
			}
		}
		for _, b := range s.held.blocks {
			if b.orphan() {
				kept += orphanBytes
			}
		}
		if int64(kept) != s.budget.taken || s.budget.taken > f.account.Share()/replicaPart {
			t.Fatalf("%s keeps %d bytes, %d are charged, %d allowed", name, kept, s.budget.taken,
				f.account.Share()/replicaPart)
		}
		sum += int64(kept)
	}
	if got := f.account.Waiting(); got != sum || got > f.account.Share() {
		t.Fatalf("%d bytes are kept, %d are charged, %d allowed", sum, got, f.account.Share())
	}
	return sum
}

// crowd is a feed of four replicas, e0 to e3, that shares an account with its index.
type crowd struct {
	*testing.T
	x     *runs.Indexer
	feed  *Feed
	limit int64
	known bool
	ways  [2]Carrier
}

func newCrowd(t *testing.T, limit int64, patience time.Duration) *crowd {
	account := index.NewAccount(limit)
	x, err := runs.New(index.Config{Account: account})
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{T: t, x: x, limit: limit, known: true}
	names := map[string]index.HostID{}
	for h := range index.HostID(4) {
		names[fmt.Sprint("e", h)] = h
		if err := x.Admit(h); err != nil {
			t.Fatal(err)
		}
	}
	c.feed = NewFeed(x, hasher, func(name string) (Target, bool) {
		h, ok := names[name]
		return Target{Host: h, Specialist: "debug", BlockSize: 4, Patience: patience}, ok && c.known
	})
	c.feed.Within(account)
	c.ways = [2]Carrier{c.feed.From("redis").Open(), c.feed.From("nats").Open()}
	return c
}

// check fails where the ledger is wrong, or overdrawn.
func (c *crowd) check() {
	c.Helper()
	if sum := checkLedger(c.T, c.feed) + c.x.Stats().Bytes; sum > c.limit {
		c.Fatalf("index and waiting take %d bytes of %d", sum, c.limit)
	}
}

// large is a batch that registers n blocks of a chain of its own.
func large(replica string, epoch, seq uint64, n int) Batch {
	first := seq<<32 | epoch<<24
	hashes := make([]uint64, n)
	for i := range hashes {
		hashes[i] = first + uint64(i) + 1
	}
	return Batch{Replica: replica, Epoch: epoch, Seq: seq,
		Events: []Event{stored(true, 0, tokens(uint32(seq)*7919, 4*n), hashes...)}}
}

func TestEarlyBatchesWaitWithinBytes(t *testing.T) {
	c := newCrowd(t, 64<<20, 0)
	fast, slow := c.ways[0], c.ways[1]
	for _, name := range []string{"e0", "e1"} {
		fast.Deliver(large(name, 1, 1, 1))
		slow.Deliver(large(name, 1, 1, 1))
	}
	fast.Deliver(large("e1", 1, 3, 10))
	most := int64(0)
	for seq := uint64(3); seq < 3+MaxEarly; seq++ { // 2 is on its way elsewhere
		fast.Deliver(large("e0", 1, seq, 4000))
		c.check()
		most = max(most, c.feed.Stats().Waiting)
	}
	st := c.feed.Stats()
	if st.Crowded != 1 || st.Gaps != 1 || st.Held != 1 || most < 1<<20 || c.x.Host(0).LastSeq != 2+MaxEarly ||
		!c.x.Stale().Has(0) {
		t.Errorf("%d bytes waited at most; %+v, %+v", most, st, c.x.Host(0))
	}
	slow.Deliver(large("e1", 1, 2, 10)) // the other replica has lost nothing
	if c.check(); c.x.Host(1).LastSeq != 3 || c.x.Stale().Has(1) || c.feed.Stats().Waiting != 0 {
		t.Errorf("%+v, %+v", c.feed.Stats(), c.x.Host(1))
	}
}

func TestHeldBatchesWaitWithinBytes(t *testing.T) {
	c := newCrowd(t, 64<<20, 0)
	c.ways[0].Deliver(large("e0", 1, 1, 1))
	release := c.feed.Hold("e0")
	most := int64(0)
	for seq := uint64(2); seq <= 400; seq++ {
		c.ways[0].Deliver(large("e0", 1, seq, 1000))
		c.check()
		most = max(most, c.feed.Stats().Waiting)
	}
	st := c.feed.Stats()
	if st.Crowded != 1 || st.Gaps != 0 || st.Held != 0 || st.Waiting != 0 || most < 1<<20 ||
		c.x.Host(0).LastSeq != 400 || c.x.Stale().Has(0) {
		t.Errorf("%d bytes waited at most; %+v, %+v", most, st, c.x.Host(0))
	}
	if err := c.feed.Resync("e0", 1, 1, nil); err == nil {
		t.Error("an answer that is outdated by then was taken")
	}
	release()
	c.check()
}

func TestOrphansWaitWithinBytes(t *testing.T) {
	c := newCrowd(t, 64<<20, 0)
	fast, slow := c.ways[0], c.ways[1]
	orphans := func(kind Kind, seq uint64) Batch {
		b := large("e0", 1, seq, 1000)
		b.Events[0].Kind, b.Events[0].Root, b.Events[0].Parent = kind, false, 1<<60+seq
		return b
	}
	const batches = 100
	for seq := uint64(1); seq <= batches; seq++ {
		fast.Deliver(orphans(Registered, seq))
		c.check()
	}
	st := c.feed.Stats()
	if st.Waiting > c.feed.account.Share()/replicaPart/orphansPart || st.Waiting < 1000*orphanBytes ||
		st.Ignored == 0 || len(st.Full) != 1 {
		t.Fatalf("%+v", st)
	}
	slow.Deliver(orphans(Registered, batches))
	fast.Deliver(large("e0", 1, batches+2, 1000)) // orphans leave room for what waits
	if c.check(); c.feed.Stats().Held != 1 || c.feed.Stats().Crowded != 0 {
		t.Errorf("%+v", c.feed.Stats())
	}
	slow.Deliver(large("e0", 1, batches+1, 1))
	for i := range uint64(batches) {
		fast.Deliver(Batch{Replica: "e0", Epoch: 1, Seq: batches + 3 + i,
			Events: []Event{evicted(orphans(Evicted, 1+i).Events[0].Hashes...)}})
		c.check()
	}
	if st := c.feed.Stats(); st.Waiting != 0 || st.Gaps != 0 {
		t.Errorf("%+v", st)
	}
}

// Whatever comes, from any source, in whatever order, through resyncs, moves, lives and an index that is full.
func TestWhatWaitsIsChargedToTheByteWhateverComes(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 13))
		c := newCrowd(t, 12<<20, time.Duration(seed%2)*patience)
		now := time.Unix(1_800_000_000, 0)
		c.feed.now = func() time.Time { return now }
		var seq, epoch [4]uint64
		release := func() {}
		for range 500 {
			i := rng.IntN(4)
			name := fmt.Sprint("e", i)
			b := large(name, 1+epoch[i], seq[i]+rng.Uint64N(6), 1+rng.IntN(8000)*rng.IntN(2))
			b.By = Speaker{Name: string(rune('a' + rng.IntN(3)*rng.IntN(2)))}
			if rng.IntN(3) == 0 {
				b.Events[0].Root, b.Events[0].Parent = false, rng.Uint64N(1000)
			}
			switch n := rng.IntN(100); {
			case n < 2:
				release()
				release = c.feed.Hold(name)
			case n < 4:
				_ = c.feed.Resync(name, 1+epoch[i], seq[i], b.Events)
			case n < 5:
				epoch[i], seq[i] = epoch[i]+1, 0
			case n < 6:
				b.Events = append(b.Events, Event{Kind: Cleared})
			case n < 7:
				c.known = false
				c.feed.Forget(name)
				c.known = true
			case n < 8:
				now = now.Add(patience)
				c.feed.ReplaceSilent()
			case n < 9:
				c.ways[n%2].Close()
				c.ways[n%2] = c.feed.From([]string{"redis", "nats"}[n%2]).Open()
			}
			c.ways[rng.IntN(2)].Deliver(b)
			seq[i] = max(seq[i], c.x.Host(index.HostID(i)).LastSeq)
			c.check()
		}
		st := c.feed.Stats()
		if st.Crowded == 0 || st.Gaps == 0 || st.Orphans == 0 || st.Ignored == 0 || st.Resyncs == 0 {
			t.Errorf("seed %d has not come to all of it: %+v", seed, st)
		}
		c.known = false
		for i := range 4 {
			c.feed.Forget(fmt.Sprint("e", i))
		}
		if c.check(); c.feed.Stats().Waiting != 0 {
			t.Errorf("seed %d: %+v when nothing waits", seed, c.feed.Stats())
		}
		if err := c.x.Check(); err != nil {
			t.Fatal(err)
		}
	}
}
