package gate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/kvpool"
	"octet/scheduler"
)

// gated runs f with a Gate in a bubble of virtual time and checks it afterwards.
func gated(t *testing.T, cfg Config, f func(t *testing.T, g *Gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg.Now = time.Now
		g, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		f(t, g)
		synctest.Wait()
		if err := g.Check(); err != nil {
			t.Error(err)
		}
	})
}

func admitted(t *testing.T, g *Gate, r Request) *Ticket {
	t.Helper()
	ticket, err := g.Admit(t.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", r.ID, err)
	}
	return ticket
}

// waits queues r and returns where its ticket or error will come.
func waits(t *testing.T, g *Gate, r Request) <-chan any {
	t.Helper()
	before, got := g.Stats().Waiting, make(chan any, 1)
	go func() {
		if ticket, err := g.Admit(t.Context(), r); err != nil {
			got <- err
		} else {
			got <- ticket
		}
	}()
	synctest.Wait()
	if n := g.Stats().Waiting; n != before+1 {
		t.Fatalf("%s: %d wait, there were %d before", r.ID, n, before)
	}
	return got
}

// came returns what a waiter got by now.
func came(got <-chan any) any {
	synctest.Wait()
	select {
	case v := <-got:
		return v
	default:
		return nil
	}
}

func wantTicket(t *testing.T, got <-chan any) *Ticket {
	t.Helper()
	ticket, ok := came(got).(*Ticket)
	if !ok {
		t.Fatal("no ticket")
	}
	return ticket
}

func wantError(t *testing.T, err any, want error) *scheduler.Refusal {
	t.Helper()
	e, _ := err.(error)
	var r *scheduler.Refusal
	if !errors.As(e, &r) || !errors.Is(e, want) || !errors.Is(e, scheduler.ErrRefused) {
		t.Fatalf("got %v, want a refusal: %v", err, want)
	}
	return r
}

func ofBlocks(n int) Request {
	return Request{ID: fmt.Sprintf("%d blocks", n), PromptTokens: 16*n - 1}
}

var tenBlocks = Config{Blocks: 10, BlockSize: 16, MaxRunning: 8, MaxWaiting: 8}

// MEGA-24, MEGA-43: prompt and one step; larger than the pool is refused at once.
func TestGateAdmitsWhatFitsWithOneStep(t *testing.T) {
	for _, c := range []struct {
		prompt, n, resume int
		want              error
	}{{63, 0, 0, nil}, {64, 0, 0, scheduler.ErrExceedsPool}, {10, 54, 0, nil}, {10, 55, 0, scheduler.ErrExceedsPool},
		{10, 54, 53, nil},
		{10, 0, 54, scheduler.ErrExceedsPool}, {10, math.MaxInt, 0, scheduler.ErrExceedsPool},
		{math.MaxInt, 0, 0, scheduler.ErrExceedsPool}} {
		gated(t, Config{Blocks: 4, BlockSize: 16, MaxRunning: 1}, func(t *testing.T, g *Gate) {
			ticket, err := g.Admit(t.Context(), Request{PromptTokens: c.prompt, MaxNew: c.n, Resume: c.resume})
			if c.want != nil {
				wantError(t, err, c.want)
				return
			}
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			ticket.Release()
		})
	}
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		a := admitted(t, g, ofBlocks(6))
		got := waits(t, g, Request{ID: "exact", PromptTokens: 64})
		admitted(t, g, Request{ID: "more urgent and smaller", PromptTokens: 63, Priority: 1}).Release()
		if came(got) != nil {
			t.Error("64 tokens and a step got into 4 blocks")
		}
		a.Release()
		wantTicket(t, got).Release()
	})
}

// MEGA-22: by priority, then by arrival; the head is not overtaken by what would fit.
func TestGateServesInOrder(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		holder := admitted(t, g, ofBlocks(10))
		var order []string
		var all sync.WaitGroup
		for i, r := range []Request{{ID: "c", Priority: 0}, {ID: "d", Priority: 0}, {ID: "e", Priority: -1},
			{ID: "a", Priority: 2}, {ID: "b", Priority: 0, Arrived: time.Now().Add(-time.Second)}} {
			r.PromptTokens = 16*9 - 1 - i
			all.Go(func() {
				ticket := admitted(t, g, r)
				order = append(order, r.ID)
				ticket.Release()
			})
			synctest.Wait()
		}
		small := waits(t, g, Request{ID: "small", PromptTokens: 1, Priority: -2})
		holder.Release()
		all.Wait()
		if fmt.Sprint(order) != "[a b c d e]" {
			t.Errorf("served in order %v", order)
		}
		wantTicket(t, small).Release()
	})
}

// MEGA-23: what the gate saw computed can be shared; what only waits for its prefill cannot.
func TestGateModelsThePrefixCache(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		var h kvpool.Hasher
		prompt := make([]uint32, 100)
		chain := h.Chain(nil, 1, prompt, 16)
		r := Request{ID: "shared", PromptTokens: 100, Chain: chain}
		first := admitted(t, g, r)
		second := waits(t, g, r)
		if first.Reused() != 0 {
			t.Errorf("reused %d of an empty cache", first.Reused())
		}
		first.FirstToken()
		next := wantTicket(t, second)
		if n := next.Reused(); n != 6 {
			t.Errorf("reused %d blocks, want 6", n)
		}
		first.Release()
		next.Release()
		r.Chain = h.Chain(nil, 2, prompt, 16)
		if n := admitted(t, g, r).Reused(); n != 0 {
			t.Errorf("another root reused %d blocks", n)
		}
		if s := g.Stats(); s.CachedTokens != 96 || s.PromptTokens != 300 {
			t.Errorf("%+v", s)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	gated(t, Config{Blocks: 10, BlockSize: 16, MaxRunning: 1, MaxWaiting: 1}, func(t *testing.T, g *Gate) {
		a := admitted(t, g, ofBlocks(1))
		b := waits(t, g, ofBlocks(1))
		_, err := g.Admit(t.Context(), ofBlocks(1))
		wantError(t, err, scheduler.ErrQueueFull)
		a.Release()
		wantTicket(t, b).Release()
	})
}

func TestWaitsEndWithTheirReason(t *testing.T) {
	for _, c := range []struct {
		name    string
		running int
		r       Request
		after   time.Duration
		want    error
	}{
		{"blocks were missing", 8, ofBlocks(5), time.Second, scheduler.ErrKVExhausted},
		{"a place was missing", 1, ofBlocks(1), time.Second, scheduler.ErrQueueFull},
		{"the deadline passes", 8, Request{PromptTokens: 100, Deadline: time.Now().Add(0)}, 300 * time.Millisecond,
			scheduler.ErrDeadline},
		{"the first token's deadline passes", 8, Request{PromptTokens: 100, TTFTDeadline: time.Now()},
			300 * time.Millisecond, scheduler.ErrDeadline},
		{"a resumed request has its first token", 8,
			Request{PromptTokens: 100, Resume: 3, TTFTDeadline: time.Now()}, time.Second, scheduler.ErrKVExhausted},
	} {
		t.Run(c.name, func(t *testing.T) {
			gated(t, Config{Blocks: 10, BlockSize: 16, MaxRunning: c.running, MaxWaiting: 9, MaxWait: time.Second},
				func(t *testing.T, g *Gate) {
					if !c.r.Deadline.IsZero() {
						c.r.Deadline = time.Now().Add(c.after)
					}
					if !c.r.TTFTDeadline.IsZero() {
						c.r.TTFTDeadline = time.Now().Add(300 * time.Millisecond)
					}
					holder := admitted(t, g, ofBlocks(8))
					start := time.Now()
					_, err := g.Admit(t.Context(), c.r)
					wantError(t, err, c.want)
					if took := time.Since(start); took != c.after {
						t.Errorf("refused after %v, want %v", took, c.after)
					}
					holder.Release()
				})
		})
	}
}

// A request that gives up makes way for those behind.
func TestGivingUpLetsTheNextIn(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		holder := admitted(t, g, ofBlocks(6))
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := g.Admit(ctx, ofBlocks(5))
			failed <- err
		}()
		synctest.Wait()
		behind := waits(t, g, ofBlocks(4))
		cancel()
		if err := <-failed; err != context.Canceled {
			t.Errorf("gave up with %v", err)
		}
		wantTicket(t, behind).Release()
		holder.Release()
		if _, err := g.Admit(ctx, ofBlocks(1)); err != context.Canceled {
			t.Errorf("admitting under an ended context: %v", err)
		}
	})
}

// ctx ends at the very moment at which the ticket comes.
func TestGivingUpOnATicketThatCameReleasesIt(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		holder := admitted(t, g, ofBlocks(6))
		_, w, err := g.ask(new(ofBlocks(5)))
		if err != nil {
			t.Fatal(err)
		}
		holder.Release()
		g.abandon(w)
		if s := g.Stats(); s.Running != 0 || s.Free != s.Total {
			t.Errorf("the ticket leaked: %+v", s)
		}
	})
}

func TestTicketsEndOnceAndThenDoNothing(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		a := admitted(t, g, ofBlocks(4))
		a.FirstToken()
		a.FirstToken()
		a.Grow(40)
		a.Release()
		want := g.Stats()
		a.Release()
		a.Grow(400)
		a.FirstToken()
		if got := g.Stats(); got != want || got.Free != 10 || got.Finished != 1 {
			t.Errorf("%+v, before %+v", got, want)
		}
	})
}

func TestUnknownPoolCountsRequestsOnly(t *testing.T) {
	gated(t, Config{MaxRunning: 2, MaxWaiting: 2}, func(t *testing.T, g *Gate) {
		huge := Request{ID: "huge", PromptTokens: 1 << 30, MaxNew: 1 << 30, Victim: true,
			Chain: make([]kvpool.BlockHash, 9)}
		a, b := admitted(t, g, huge), admitted(t, g, huge)
		a.FirstToken()
		a.Grow(1 << 20)
		urgent := huge
		urgent.Priority = 1
		got := waits(t, g, urgent)
		if told(a) || !told(b) {
			t.Error("the later one gives way")
		}
		b.Release()
		wantTicket(t, got).Release()
		if s := g.Stats(); s.Total != 0 || s.Used != 0 || s.Running != 1 || a.Reused() != 0 {
			t.Errorf("%+v", s)
		}
		a.Release()
	})
}

func TestReconfigureLetsInWhoFitsNow(t *testing.T) {
	gated(t, Config{Blocks: 10, BlockSize: 16, MaxRunning: 1, MaxWaiting: 1}, func(t *testing.T, g *Gate) {
		a := admitted(t, g, ofBlocks(1))
		b := waits(t, g, ofBlocks(1))
		g.Reconfigure(Config{MaxRunning: 2, MaxWaiting: 5, MaxWait: time.Minute})
		second := wantTicket(t, b)
		c := waits(t, g, ofBlocks(1))
		g.Reconfigure(Config{MaxRunning: 1, MaxWait: time.Second})
		a.Release()
		if came(c) != nil {
			t.Error("let in beyond the new bound")
		}
		second.Release()
		wantTicket(t, c).Release()
	})
}

// Ten thousand wait; the one that makes room wakes exactly those that it lets in.
func TestReleaseWakesOnlyWhomItLetsIn(t *testing.T) {
	gated(t, Config{Blocks: 10, BlockSize: 16, MaxRunning: 1, MaxWaiting: 10_000}, func(t *testing.T, g *Gate) {
		holder := admitted(t, g, ofBlocks(1))
		var woken atomic.Int32
		tickets := make(chan *Ticket, 10_000)
		for range 10_000 {
			go func() {
				ticket, err := g.Admit(t.Context(), ofBlocks(1))
				woken.Add(1)
				if err != nil {
					t.Error(err)
				}
				tickets <- ticket
			}()
		}
		synctest.Wait()
		if g.Stats().Waiting != 10_000 || woken.Load() != 0 {
			t.Fatalf("%d woken, %+v", woken.Load(), g.Stats())
		}
		for i := range int32(10_000) {
			holder.Release()
			holder = <-tickets
			if i%1000 == 0 {
				synctest.Wait()
				if n := woken.Load(); n != i+1 {
					t.Fatalf("%d releases woke %d", i+1, n)
				}
			}
		}
		holder.Release()
	})
}

// Under the race detector: many goroutines ask, grow, are preempted and come back, give up and run out of time.
func TestGateIsSafeFromManyGoroutines(t *testing.T) {
	g, err := New(Config{Blocks: 40, BlockSize: 4, MaxRunning: 6, MaxWaiting: 20, MaxWait: 2 * time.Millisecond,
		Now: time.Now, Jitter: rand.Float64})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for worker := range uint64(24) {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(worker, 2))
			for range 60 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(5))*time.Millisecond)
				useGate(ctx, g, dice)
				cancel()
			}
		})
	}
	all.Wait()
	if err := g.Check(); err != nil {
		t.Error(err)
	}
	if s := g.Stats(); s.Free != s.Total || s.Running+s.Waiting+s.Preempting != 0 {
		t.Errorf("quiet, but %+v", s)
	}
}

func useGate(ctx context.Context, g *Gate, dice *rand.Rand) {
	r := Request{PromptTokens: 1 + dice.IntN(60), MaxNew: dice.IntN(40), Priority: dice.IntN(3),
		Victim: dice.IntN(2) == 0}
	if dice.IntN(3) == 0 {
		r.Deadline = time.Now().Add(time.Millisecond)
	}
	g.Probe(r)
	t, err := g.Admit(ctx, r)
	if err != nil {
		return
	}
	defer t.Release()
	t.FirstToken()
	for n := 1; n < 40; n += 4 {
		if t.Yielding() {
			return
		}
		t.Grow(n)
	}
}
