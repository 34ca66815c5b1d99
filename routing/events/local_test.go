package events

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"octet/routing/index"
)

// gather is a Sink that keeps what it gets.
type gather struct{ all []Batch }

func (g *gather) Deliver(b Batch) { g.all = append(g.all, b) }

var (
	_ Publisher = (*Local)(nil)
	_ Consumer  = (*Local)(nil)
	_ Merger    = (*Feed)(nil)
	_ Consumer  = carrierPigeon(nil)
)

// carrierPigeon is a transport that no one here knows of. MOD2-19
type carrierPigeon func() (Batch, bool)

func (p carrierPigeon) Consume(ctx context.Context, sink Sink) error {
	session := OpenSession(sink)
	defer session.Close()
	for b, ok := p(); ok; b, ok = p() {
		session.Deliver(b)
	}
	return ctx.Err()
}

// MOD2-19, MOD2-22
func TestANewTransportIsOneMethod(t *testing.T) {
	b := newBench(t)
	sent := uint64(0)
	pigeon := carrierPigeon(func() (Batch, bool) { sent++; return numbered(1, sent), sent <= 3 })
	if err := pigeon.Consume(t.Context(), b.feed); err != nil || b.x.Host(debug0.Host).LastSeq != 3 {
		t.Errorf("%v, %+v", err, b.x.Host(debug0.Host))
	}
	all := new(gather)
	sent = 0
	if err := pigeon.Consume(t.Context(), all); err != nil || len(all.all) != 3 {
		t.Errorf("a sink without sessions: %v, %d batches", err, len(all.all))
	}
}

func TestWhatFindsNoRoomIsAGapDownstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLocal(2)
		for seq := range uint64(4) {
			err := l.Publish(t.Context(), numbered(1, seq+1))
			if want := seq >= 2; errors.Is(err, ErrFull) != want {
				t.Errorf("batch %d: %v", seq+1, err)
			}
		}
		b := newBench(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Consume(ctx, b.feed) }()
		synctest.Wait()
		if err := l.Publish(ctx, numbered(1, 5)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if st := b.feed.Stats(); st.Gaps != 1 || !b.x.Stale().Has(debug0.Host) || l.Lost() != 2 {
			t.Errorf("%+v, %d lost", st, l.Lost())
		}
		if st := l.Stats(); !st.Connected || st.Messages != 3 {
			t.Errorf("%+v", st)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || l.Stats().Connected {
			t.Errorf("%v, %+v", err, l.Stats())
		}
	})
}

func TestAClosedLocalTakesNothingMore(t *testing.T) {
	l := NewLocal(0)
	if err := l.Publish(t.Context(), Batch{}); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if err := l.Publish(t.Context(), numbered(1, 1)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestMeterTellsALossFromABeginning(t *testing.T) {
	var m Meter
	m.Up()
	m.Up()
	m.Down()
	m.Down()
	m.Up()
	if st := m.Stats(); st.Reconnects != 1 || !st.Connected {
		t.Errorf("%+v", st)
	}
}

func BenchmarkFeedStoreAndEvict(b *testing.B) {
	feed := NewFeed(newIndex(b, 2), hasher, only("debug-0", Target{Host: 1, Specialist: "debug", BlockSize: 16}))
	in := feed.Open()
	const blocks = 32
	store := Event{Kind: Registered, Tier: index.GPU, Root: true, Tokens: tokens(1, 16*blocks), BlockSize: 16}
	for i := range uint64(blocks) {
		store.Hashes = append(store.Hashes, i+1)
	}
	batch := Batch{Replica: "debug-0", Epoch: 1, Events: []Event{store, {Kind: Evicted, Hashes: store.Hashes}}}
	b.ReportAllocs()
	for b.Loop() {
		batch.Seq++
		in.Deliver(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2*blocks), "ns/block")
}
