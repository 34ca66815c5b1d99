package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/kvpool"
	"octet/routing/events"
)

// recorder is a transport that remembers, and fails as often as it is told to.
type recorder struct {
	batchesMu sync.Mutex
	batches   []events.Batch
	failures  int // of the next calls
	calls     int
}

func (r *recorder) Publish(_ context.Context, b events.Batch) error {
	r.batchesMu.Lock()
	defer r.batchesMu.Unlock()
	r.calls++
	if r.failures > 0 {
		r.failures--
		return errors.New("transport is down")
	}
	r.batches = append(r.batches, b)
	return nil
}

func (r *recorder) Close() error { return nil }

func (r *recorder) all() []events.Batch {
	r.batchesMu.Lock()
	defer r.batchesMu.Unlock()
	return slices.Clone(r.batches)
}

// mirror is what a reader of the events holds to be in the cache: hash → parent.
type mirror map[uint64]uint64

// replay applies one batch and checks that it fits what came before.
func (m mirror) replay(t *testing.T, hasher kvpool.Hasher, b events.Batch) {
	t.Helper()
	for _, e := range b.Events {
		switch e.Kind {
		case events.Cleared, events.Shutdown:
			clear(m)
		case events.Evicted:
			for _, h := range e.Hashes {
				if _, ok := m[h]; !ok {
					t.Errorf("seq %d: %x leaves, but was not there", b.Seq, h)
				}
				delete(m, h)
			}
		case events.Registered:
			m.register(t, hasher, b.Seq, e)
		}
	}
}

func (m mirror) register(t *testing.T, hasher kvpool.Hasher, seq uint64, e events.Event) {
	t.Helper()
	if len(e.Tokens) != len(e.Hashes)*e.BlockSize || e.BlockSize != 4 {
		t.Fatalf("seq %d: %d tokens for %d blocks of %d", seq, len(e.Tokens), len(e.Hashes), e.BlockSize)
	}
	if _, ok := m[e.Parent]; !ok && !e.Root {
		t.Errorf("seq %d: the parent %x is not there", seq, e.Parent)
	}
	parent := e.Parent
	for i, h := range e.Hashes {
		if own := hasher.Next(kvpool.BlockHash(parent), e.Tokens[i*4:i*4+4]); uint64(own) != h {
			t.Errorf("seq %d: block %d is %x, but its tokens after %x make %x", seq, i, h, parent, own)
		}
		if _, ok := m[h]; ok {
			t.Errorf("seq %d: %x comes, but was there", seq, h)
		}
		m[h], parent = parent, h
	}
}

// DYN-10: engines notify on block creation and removal; what they say adds up to what they hold.
func TestReplayedEventsAreTheCache(t *testing.T) {
	c, rec := fast(), &recorder{}
	c.Publisher, c.Seed = rec, 99
	r := start(t, c)
	var asks sync.WaitGroup
	for i := range 10 { // 10 × 60 tokens over a pool of 256: blocks are shared, evicted and taken away
		asks.Go(func() {
			model := []string{"debug", "gdb-v2"}[i%2]
			body := fmt.Sprintf(`{"model":%q,"cache_salt":"s%d","max_tokens":20,"prompt":"%s %d"}`, model, i%3,
				strings.Repeat("shared ", 30), i%4)
			if got := r.whole("/v1/completions", "", body); got.Usage.CompletionTokens != 20 {
				t.Errorf("%+v", got)
			}
		})
	}
	asks.Wait()
	r.quiet()
	r.eventually("every batch", func() bool { return uint64(len(rec.all())) == r.e.State().Seq })
	held, evictions, longest := mirror{}, 0, 0
	for i, b := range rec.all() {
		if b.Seq != uint64(i+1) || b.Epoch != 7 || b.Replica != "debug-0" || b.At.IsZero() {
			t.Fatalf("batch %d is %+v", i, b)
		}
		held.replay(t, kvpool.NewHasher(99), b)
		for _, e := range b.Events {
			longest = max(longest, len(e.Hashes))
			if e.Kind == events.Evicted {
				evictions += len(e.Hashes)
			}
		}
	}
	if s := r.e.State(); len(held) != s.Cached || s.Cached == 0 {
		t.Errorf("replayed %d blocks, the engine holds %d", len(held), s.Cached)
	}
	if evictions == 0 || longest < 2 {
		t.Errorf("%d evictions, at most %d blocks an event: the test shows too little", evictions, longest)
	}
	if first := rec.all()[0].Events; len(first) != 1 || first[0].Kind != events.Cleared {
		t.Errorf("the epoch begins with %+v", first)
	}
}

func TestEventsSayTheAdapterAndTheSalt(t *testing.T) {
	c, rec := fast(), &recorder{}
	c.Publisher = rec
	r := start(t, c)
	r.whole("/v1/completions", "", `{"model":"gdb-v2","cache_salt":"acme","max_tokens":1,"prompt":"a b c d e f g h"}`)
	r.eventually("two batches", func() bool { return len(rec.all()) == 2 })
	e := rec.all()[1].Events[0]
	if e.Adapter != "gdb-v2" || e.Salt != "acme" || !e.Root || len(e.Hashes) != 2 {
		t.Errorf("%+v", e)
	}
}

func TestTheLastBatchIsAShutdown(t *testing.T) {
	c, rec := fast(), &recorder{}
	c.Publisher = rec
	e, err := emulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	if b := rec.all(); len(b) != 2 || b[0].Events[0].Kind != events.Cleared || b[1].Events[0].Kind != events.Shutdown ||
		b[1].Seq != 2 {
		t.Errorf("%+v", b)
	}
}

func TestATransportThatRecoversLosesNothing(t *testing.T) {
	c, rec := fast(), &recorder{failures: 3}
	c.Publisher = rec
	r := start(t, c)
	r.whole("/v1/completions", "", `{"model":"debug","max_tokens":1,"prompt":"a b c d"}`)
	r.eventually("both batches", func() bool { return len(rec.all()) == 2 })
	if b := rec.all(); b[0].Seq != 1 || b[1].Seq != 2 || rec.calls != 5 {
		t.Errorf("%d calls, %+v", rec.calls, b)
	}
}

func TestABatchThatNoTryGetsThroughLeavesAGap(t *testing.T) {
	c, rec := fast(), &recorder{failures: 4}
	c.Publisher = rec
	r := start(t, c)
	r.eventually("the loss of the first", func() bool { return r.e.State().Lost == 1 })
	r.whole("/v1/completions", "", `{"model":"debug","max_tokens":1,"prompt":"a b c d"}`)
	r.eventually("the second", func() bool { return len(rec.all()) == 1 })
	if b := rec.all(); b[0].Seq != 2 {
		t.Errorf("%+v", b)
	}
}

// stuck is a transport that never answers.
type stuck struct{}

func (stuck) Publish(ctx context.Context, _ events.Batch) error {
	<-ctx.Done()
	return ctx.Err()
}

func (stuck) Close() error { return nil }

func TestAStuckTransportDoesNotHoldUpAnswers(t *testing.T) {
	c := fast()
	c.Publisher = stuck{}
	r := start(t, c)
	for i := range 20 {
		r.whole("/v1/completions", "", fmt.Sprintf(`{"model":"debug","max_tokens":5,"prompt":"%d a b c d"}`, i))
	}
}

func TestAResetCacheIsEmptyForEveryone(t *testing.T) {
	c, rec := fast(), &recorder{}
	c.Publisher = rec
	r := start(t, c)
	body := `{"model":"debug","max_tokens":1,"prompt":"a b c d e f g h i"}`
	r.whole("/v1/completions", "", body)
	r.quiet()
	if status, text := r.ask("/reset_prefix_cache", "", ""); status != 200 || text != "" {
		t.Fatalf("%d %s", status, text)
	}
	if got := r.whole("/v1/completions", "", body).Usage.Details.CachedTokens; got != 0 {
		t.Errorf("%d tokens were cached", got)
	}
	r.eventually("all batches", func() bool { return len(rec.all()) == 4 })
	if b := rec.all(); b[2].Events[0].Kind != events.Cleared || b[3].Events[0].Kind != events.Registered {
		t.Errorf("%+v", b)
	}
}

func TestACacheInUseIsNotReset(t *testing.T) {
	c := fast()
	c.Step = 2 * time.Millisecond
	r := start(t, c)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.whole("/v1/completions", "", `{"model":"debug","max_tokens":40,"prompt":"a b c d"}`)
	}()
	r.eventually("a running request", func() bool { return r.e.State().Running == 1 })
	if status, _ := r.ask("/reset_prefix_cache", "", ""); status != 409 {
		t.Errorf("status %d", status)
	}
	<-done
}
