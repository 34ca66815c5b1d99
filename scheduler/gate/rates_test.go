package gate

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"octet/scheduler"
)

func TestPrefillTimeIsALine(t *testing.T) {
	var l linear
	if l.observe(100, float64(time.Second)); l.duration(100) != 0 {
		t.Error("known from one observation")
	}
	l = linear{}
	for i := range 100 {
		n := 20 + i%7*100
		l.observe(float64(n), float64(15*time.Millisecond+time.Duration(n)*100*time.Microsecond))
	}
	for _, n := range []int{0, 20, 500, 8000} {
		want := 15*time.Millisecond + time.Duration(n)*100*time.Microsecond
		if got := l.duration(float64(n)); got < want*98/100 || got > want*102/100 {
			t.Errorf("%d tokens take %v, want %v", n, got, want)
		}
	}
}

// Short prompts alone say nothing of long ones: the estimate stays on the side of admitting.
func TestOneSizeOfPromptGivesALowerBound(t *testing.T) {
	var l linear
	for range 50 {
		l.observe(20, float64(15*time.Millisecond))
	}
	for n, want := range map[int]time.Duration{10: 7500 * time.Microsecond, 20: 15 * time.Millisecond,
		8000: 15 * time.Millisecond} {
		if got := l.duration(float64(n)); got < want-time.Microsecond || got > want+time.Microsecond {
			t.Errorf("%d tokens take %v, want %v", n, got, want)
		}
	}
}

func TestEstimatesAreNeverNegative(t *testing.T) {
	var l linear
	for i := range 20 { // the longer, the faster: noise
		l.observe(float64(100+i*100), float64(time.Second-time.Duration(i)*40*time.Millisecond))
	}
	for _, n := range []int{0, 100, 100_000} {
		if got := l.duration(float64(n)); got <= 0 {
			t.Errorf("%d tokens take %v", n, got)
		}
	}
}

// serve has a request of prompt tokens and n answers take what the engine would take.
func serve(t *testing.T, g *Gate, prompt, n int, first, each time.Duration) {
	t.Helper()
	ticket := admitted(t, g, Request{ID: "served", PromptTokens: prompt})
	time.Sleep(first)
	ticket.FirstToken()
	time.Sleep(each * time.Duration(n-1))
	ticket.Grow(n)
	ticket.Release()
}

func TestDeadlinesAreRefusedByMeasuredRates(t *testing.T) {
	gated(t, Config{Blocks: 1000, BlockSize: 16, MaxRunning: 1, MaxWaiting: 9}, func(t *testing.T, g *Gate) {
		in := func(d time.Duration) time.Time { return time.Now().Add(d) }
		asked := []struct {
			name string
			r    Request
			ok   bool
		}{
			{"first token in time", Request{PromptTokens: 1000, TTFTDeadline: in(120 * time.Millisecond)}, true},
			{"first token late", Request{PromptTokens: 1000, TTFTDeadline: in(100 * time.Millisecond)}, false},
			{"resumed: the first token was long ago",
				Request{PromptTokens: 1000, Resume: 1, TTFTDeadline: in(time.Millisecond)}, true},
			{"answer in time", Request{PromptTokens: 1000, MaxNew: 100, Deadline: in(1200 * time.Millisecond)},
				true},
			{"answer late", Request{PromptTokens: 1000, MaxNew: 100, Deadline: in(1000 * time.Millisecond)}, false},
			{"half of the answer is there",
				Request{PromptTokens: 1000, MaxNew: 100, Resume: 50, Deadline: in(700 * time.Millisecond)}, true},
			{"length not stated: as others had, 21",
				Request{PromptTokens: 1000, Deadline: in(330 * time.Millisecond)}, true},
			{"length not stated and late", Request{PromptTokens: 1000, Deadline: in(290 * time.Millisecond)},
				false},
		}
		for _, c := range asked {
			if a := g.Probe(c.r); a.State != scheduler.Admitted {
				t.Errorf("%s: %v before anything was measured", c.name, a.State)
			}
		}
		start := time.Now()
		for i := range 20 { // 10ms and 0.1ms a token; 10ms a further token
			n := 100 + i%5*400
			serve(t, g, n, 21, 10*time.Millisecond+time.Duration(n)*100*time.Microsecond, 10*time.Millisecond)
		}
		for _, c := range asked {
			shift := time.Since(start)
			if !c.r.Deadline.IsZero() {
				c.r.Deadline = c.r.Deadline.Add(shift)
			}
			if !c.r.TTFTDeadline.IsZero() {
				c.r.TTFTDeadline = c.r.TTFTDeadline.Add(shift)
			}
			a := g.Probe(c.r)
			if (a.State == scheduler.Admitted) != c.ok || !c.ok &&
				(!errors.Is(a.Reason, scheduler.ErrDeadline) || a.RetryAfter != 0) {
				t.Errorf("%s: %v %v, retry after %v", c.name, a.State, a.Reason, a.RetryAfter)
			}
		}
	})
}

// Retry-After and estimates are the measured drain, for the place in the queue; unknown is 0.
func TestRetryAfterIsTheMeasuredDrain(t *testing.T) {
	gated(t, Config{Blocks: 100, BlockSize: 16, MaxRunning: 1, MaxWaiting: 2,
		Jitter: func() float64 { return 0.5 }}, func(t *testing.T, g *Gate) {
		held := admitted(t, g, ofBlocks(1))
		first := waits(t, g, ofBlocks(1))
		if a := g.Probe(ofBlocks(1)); a.State != scheduler.Waiting || a.Estimate != 0 {
			t.Errorf("estimate %v before anything was measured", a.Estimate)
		}
		held.Release()
		wantTicket(t, first).Release()
		for range 10 {
			serve(t, g, 10, 2, 50*time.Millisecond, 50*time.Millisecond)
		}
		held = admitted(t, g, ofBlocks(1))
		a := waits(t, g, Request{ID: "urgent", Priority: 1, PromptTokens: 10})
		if p := g.Probe(ofBlocks(1)); p.State != scheduler.Waiting || !near(p.Estimate, 200*time.Millisecond) {
			t.Errorf("second in the queue: %v in %v", p.State, p.Estimate)
		}
		if p := g.Probe(Request{Priority: 2, PromptTokens: 1}); p.State != scheduler.Waiting ||
			!near(p.Estimate, 100*time.Millisecond) {
			t.Errorf("first in the queue: %v in %v", p.State, p.Estimate)
		}
		late := g.Probe(Request{PromptTokens: 1, Deadline: time.Now().Add(150 * time.Millisecond), MaxNew: 1})
		if !errors.Is(late.Reason, scheduler.ErrDeadline) || late.RetryAfter == 0 {
			t.Errorf("the queue makes it late: %v, retry after %v", late.Reason, late.RetryAfter)
		}
		b := waits(t, g, ofBlocks(1))
		_, err := g.Admit(t.Context(), ofBlocks(1))
		if r := wantError(t, err, scheduler.ErrQueueFull); !near(r.RetryAfter, 125*time.Millisecond) {
			t.Errorf("queue full: retry after %v, want 100ms and a quarter", r.RetryAfter)
		}
		held.Release()
		wantTicket(t, a).Release()
		wantTicket(t, b).Release()
	})
}

func near(got, want time.Duration) bool { return got > want*8/10 && got < want*12/10 }

// A deadline that passed in the queue is refused at the moment it passes, also when room is made at that very moment.
func TestHeadWhoseDeadlinePassedIsNotLetIn(t *testing.T) {
	gated(t, Config{Blocks: 10, BlockSize: 16, MaxRunning: 1, MaxWaiting: 2}, func(t *testing.T, g *Gate) {
		holder := admitted(t, g, ofBlocks(1))
		r := ofBlocks(1)
		r.Deadline = time.Now().Add(time.Second)
		got := waits(t, g, r)
		behind := waits(t, g, ofBlocks(1))
		g.gateMu.Lock()
		g.now = func() time.Time { return time.Now().Add(time.Second) }
		g.gateMu.Unlock()
		holder.Release()
		synctest.Wait()
		wantError(t, came(got), scheduler.ErrDeadline)
		wantTicket(t, behind).Release()
	})
}

func TestImpossibleGatesAreRefused(t *testing.T) {
	for _, cfg := range []Config{
		{MaxRunning: 1}, {MaxRunning: 0, Now: time.Now}, {MaxRunning: 1, MaxWaiting: -1, Now: time.Now},
		{MaxRunning: 1, MaxWait: -1, Now: time.Now},
		{MaxRunning: 1, Blocks: -1, Now: time.Now}, {MaxRunning: 1, Blocks: 4, Now: time.Now},
	} {
		if _, err := New(cfg); !errors.Is(err, scheduler.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// MEGA-50: an engine that computes prompts one after the other keeps a prompt waiting for those before it, and that is
// measured.
func TestPrefillTimeCountsPromptsBefore(t *testing.T) {
	const token = 100 * time.Microsecond
	for name, lag := range map[string]time.Duration{"one after the other": token, "side by side": 0} {
		var p ttftModel
		for i := range 200 {
			own, others := 50+i*37%400, i*61%900
			p.observe(float64(own), float64(others),
				float64(15*time.Millisecond+time.Duration(own)*token+time.Duration(others)*lag))
		}
		for _, n := range [][2]int{{20, 0}, {500, 0}, {20, 900}, {3000, 5000}} {
			want := 15*time.Millisecond + time.Duration(n[0])*token + time.Duration(n[1])*lag
			if got := p.at(float64(n[0]), float64(n[1])); got < want*98/100 || got > want*102/100 {
				t.Errorf("%s: %d tokens behind %d take %v, want %v", name, n[0], n[1], got, want)
			}
		}
	}
}

// MEGA-44: a first-token deadline that an idle engine would keep is refused while a long prompt is before it.
func TestFirstTokenDeadlineCountsPromptsUnderWay(t *testing.T) {
	gated(t, Config{MaxRunning: 4, MaxWaiting: 9}, func(t *testing.T, g *Gate) {
		for i := range 12 { // prompts are prefilled one after the other, a token a millisecond
			long, short := 100+i%5*300, 10+i%3*40
			before := admitted(t, g, Request{ID: "before", PromptTokens: long})
			after := admitted(t, g, Request{ID: "after", PromptTokens: short})
			time.Sleep(time.Duration(long) * time.Millisecond)
			before.FirstToken()
			time.Sleep(time.Duration(short) * time.Millisecond)
			after.FirstToken()
			before.Release()
			after.Release()
		}
		asks := Request{ID: "asks", PromptTokens: 50, TTFTDeadline: time.Now().Add(500 * time.Millisecond)}
		if a := g.Probe(asks); a.State != scheduler.Admitted {
			t.Errorf("before an idle engine: %+v", a)
		}
		busy := admitted(t, g, Request{ID: "busy", PromptTokens: 2000})
		if a := g.Probe(asks); !errors.Is(a.Reason, scheduler.ErrDeadline) {
			t.Errorf("behind 2000 tokens: %+v", a)
		}
		busy.FirstToken()
		asks.TTFTDeadline = time.Now().Add(500 * time.Millisecond)
		if a := g.Probe(asks); a.State != scheduler.Admitted {
			t.Errorf("when they are prefilled: %+v", a)
		}
		busy.Release()
	})
}

// MEGA-50: behind a queue that has been long and steady a longer one takes longer, at the pace at which all was
// computed, and so it is with prompts of one size and with queues as long as the prompts behind them.
func TestALongerQueueThanEverTakesLonger(t *testing.T) {
	const token = 100 * time.Microsecond
	for name, seen := range map[string]func(i int) (own, others int){
		"steady":        func(i int) (int, int) { return 50 + i*37%400, 10_000 + i*61%500 },
		"one length":    func(i int) (int, int) { return 50 + i*37%400, 10_000 },
		"one size":      func(i int) (int, int) { return 300, 10_000 + i*61%900 },
		"one of either": func(int) (int, int) { return 300, 10_000 },
		"together":      func(i int) (int, int) { return 100 + i%7*50, 20 * (100 + i%7*50) },
		"one sum":       func(i int) (int, int) { return 200 + i%7*50, 10_000 - i%7*50 },
	} {
		var p ttftModel
		for i := range 200 {
			own, others := seen(i)
			p.observe(float64(own), float64(others), float64(time.Duration(own+others)*token))
		}
		for _, n := range [][2]int{{300, 10_000}, {300, 20_000}, {300, 60_000}} {
			want := time.Duration(n[0]+n[1]) * token
			if got := p.at(float64(n[0]), float64(n[1])); got < want*95/100 || got > want*105/100 {
				t.Errorf("%s: %d tokens behind %d take %v, want %v", name, n[0], n[1], got, want)
			}
		}
	}
}

// Whatever was observed, of sizes that vary, come together or are one, an estimate is a time.
func TestEstimatesOfFirstTokensAreTimes(t *testing.T) {
	for seed := range uint64(3000) {
		d := rand.New(rand.NewPCG(seed, 178))
		var p ttftModel
		sizes := make([][2]int, 1+d.IntN(4))
		for i := range sizes {
			sizes[i] = [2]int{d.IntN(1 << d.IntN(18)), d.IntN(1 << d.IntN(18))}
			if i > 0 && seed%3 == 0 { // as many in all
				sizes[i][1] = max(0, sizes[0][0]+sizes[0][1]-sizes[i][0])
			}
		}
		for range rateSamples + d.IntN(100) {
			n := sizes[d.IntN(len(sizes))]
			p.observe(float64(n[0]), float64(n[1]), float64(d.IntN(1<<(10+d.IntN(24)))))
		}
		for range 10 {
			x, a := d.IntN(1<<d.IntN(20)), d.IntN(1<<d.IntN(20))
			if got := p.at(float64(x), float64(a)); got < 0 || got > 365*24*time.Hour {
				t.Fatalf("seed %d: %d tokens behind %d take %v", seed, x, a, got)
			}
		}
	}
}
