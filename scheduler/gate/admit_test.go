package gate

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/scheduler"
)

// MEGA-44, MEGA-47: the deadline is judged at the present queue, by measured rates: those ahead are played through.
func TestADeadlineIsJudgedAtThePresentQueue(t *testing.T) {
	gated(t, Config{MaxRunning: 1, MaxWaiting: 9}, func(t *testing.T, g *Gate) {
		for range 10 { // 100ms each
			serve(t, g, 10, 6, 50*time.Millisecond, 10*time.Millisecond)
		}
		holder := admitted(t, g, Request{ID: "holder", PromptTokens: 10, MaxNew: 6})
		first := waits(t, g, Request{ID: "first", PromptTokens: 10, MaxNew: 6})
		for within, want := range map[time.Duration]scheduler.State{290 * time.Millisecond: scheduler.Refused,
			310 * time.Millisecond: scheduler.Waiting} {
			a := g.Probe(Request{PromptTokens: 10, MaxNew: 6, Deadline: time.Now().Add(within)})
			if a.State != want || want == scheduler.Refused &&
				(a.Reason != scheduler.ErrDeadline || a.RetryAfter == 0) ||
				want == scheduler.Waiting && !near(a.Estimate, 200*time.Millisecond) {
				t.Errorf("within %v: %+v", within, a)
			}
		}
		a := g.Probe(Request{PromptTokens: 10, MaxNew: 6, Deadline: time.Now().Add(90 * time.Millisecond)})
		if a.Reason != scheduler.ErrDeadline || a.RetryAfter != 0 {
			t.Errorf("not even alone: %+v", a)
		}
		holder.Release()
		wantTicket(t, first).Release()
	})
}

// MEGA-45: one more slows all; a request with a deadline in the engine is not pushed past it, and the one that must
// wait for that gets in when it is done.
func TestNobodyInFlightIsPushedPastItsDeadline(t *testing.T) {
	gated(t, Config{MaxRunning: 8, MaxWaiting: 9}, func(t *testing.T, g *Gate) {
		for n := range 16 { // a token takes 10ms for each that is there
			together(t, g, 1+n%4)
		}
		urgent := admitted(t, g, Request{ID: "bound", PromptTokens: 10, MaxNew: 101,
			Deadline: time.Now().Add(2500 * time.Millisecond)})
		urgent.FirstToken() // 100 tokens in 2.5s: company of two at most
		second := admitted(t, g, Request{ID: "second", PromptTokens: 10, MaxNew: 101})
		second.FirstToken()
		third := waits(t, g, Request{ID: "third", PromptTokens: 10, MaxNew: 101})
		time.Sleep(2 * time.Second)
		urgent.Grow(101)
		urgent.Release()
		wantTicket(t, third).Release()
		second.Release()
	})
}

// together has n requests of 41 tokens in the engine at once, which slows them n times.
func together(t *testing.T, g *Gate, n int) {
	t.Helper()
	tickets := make([]*Ticket, n)
	for i := range tickets {
		tickets[i] = admitted(t, g, Request{PromptTokens: 10, MaxNew: 41})
	}
	time.Sleep(20 * time.Millisecond)
	for _, ticket := range tickets {
		ticket.FirstToken()
	}
	for part := range 4 {
		time.Sleep(time.Duration(n) * 100 * time.Millisecond)
		for _, ticket := range tickets {
			ticket.Grow(11 + 10*part)
		}
	}
	for _, ticket := range tickets {
		ticket.Release()
	}
}

// MEGA-48: the whole draft window or the lane without; never a draft on borrowed blocks.
func TestADraftWindowIsHeldWholeOrNotAtAll(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		// 4 blocks and a step, 5 with the window
		r := Request{ID: "drafting", PromptTokens: 60, MaxNew: 20, Draft: 8}
		whole := admitted(t, g, r)
		if s := g.Stats(); !whole.Speculative() || s.Reserved != 5 {
			t.Errorf("speculative %t, %+v", whole.Speculative(), s)
		}
		other := admitted(t, g, ofBlocks(1))
		lane := admitted(t, g, r)
		if s := g.Stats(); lane.Speculative() || s.Free != 0 {
			t.Errorf("speculative %t, %+v", lane.Speculative(), s)
		}
		for _, ticket := range []*Ticket{whole, other, lane} {
			ticket.Release()
		}
	})
}

// MEGA-46, MEGA-47: preempt, wait, offer back, refuse: in this order.
func TestTheOrderOfWhatIsTriedIsFixed(t *testing.T) {
	gated(t, Config{MaxRunning: 1, MaxWaiting: 4, MaxWait: 10 * time.Second}, func(t *testing.T, g *Gate) {
		for range 10 {
			serve(t, g, 10, 11, time.Second, 100*time.Millisecond) // 2s
		}
		ask := Request{PromptTokens: 10, MaxNew: 11, OfferBack: true}
		low := admitted(t, g, Request{ID: "low", PromptTokens: 10, MaxNew: 11, Priority: -1, Victim: true})
		if a := g.Probe(ask); a.State != scheduler.Waiting || a.Estimate != 0 {
			t.Errorf("first, somebody gives way: %+v", a)
		}
		low.Pin()
		if a := g.Probe(ask); a.State != scheduler.Waiting || !near(a.Estimate, 2*time.Second) {
			t.Errorf("then it waits, if it is not long: %+v", a)
		}
		first := waits(t, g, ask)
		if a := g.Probe(ask); a.State != scheduler.Refused || !a.Offered || a.Reason != scheduler.ErrQueueFull ||
			a.RetryAfter == 0 {
			t.Errorf("then it is offered back: %+v", a)
		}
		ask.OfferBack = false
		for bound, want := range map[time.Duration]scheduler.State{
			3 * time.Second: scheduler.Refused, 6 * time.Second: scheduler.Waiting,
		} { // the first choice of another specialist's request keeps it waiting for so long; here it is 4 s
			ask.Sooner = bound
			if a := g.Probe(ask); a.State != want || !near(a.Estimate, 4*time.Second) {
				t.Errorf("a second choice of 4 s instead of %v: %+v", bound, a)
			}
		}
		ask.Sooner = 0
		var queued []<-chan any
		for range 3 {
			queued = append(queued, waits(t, g, ask))
		}
		if a := g.Probe(ask); a.State != scheduler.Refused || a.Offered || !near(a.RetryAfter, 2250*time.Millisecond) {
			t.Errorf("then it is refused: %+v", a)
		}
		low.Release()
		for _, w := range append([]<-chan any{first}, queued...) {
			wantTicket(t, w).Release()
		}
	})
}

// MEGA-46: a full queue has a place for the strictly more urgent; the last of the least urgent leaves it, with a time.
func TestAFullQueueDisplacesItsLeastUrgent(t *testing.T) {
	gated(t, Config{MaxRunning: 1, MaxWaiting: 2}, func(t *testing.T, g *Gate) {
		for range 8 {
			serve(t, g, 10, 2, 50*time.Millisecond, 50*time.Millisecond)
		}
		holder := admitted(t, g, Request{PromptTokens: 10, MaxNew: 2, Priority: 9})
		early, late := waits(t, g, Request{ID: "early", PromptTokens: 10}),
			waits(t, g, Request{ID: "late", PromptTokens: 10})
		if a := g.Probe(Request{PromptTokens: 10}); a.State != scheduler.Refused {
			t.Errorf("an equal: %+v", a)
		}
		got := make(chan any, 1)
		go func() { got <- admitted(t, g, Request{ID: "urgent", PromptTokens: 10, Priority: 1}) }()
		synctest.Wait()
		if r := wantError(t, came(late), scheduler.ErrQueueFull); r.RetryAfter == 0 || came(early) != nil {
			t.Errorf("displaced with %v", r.RetryAfter)
		}
		holder.Release()
		wantTicket(t, got).Release()
		wantTicket(t, early).Release()
	})
}

// A request that resumes has a stream open: the queue's bound and its displacement do not end it.
func TestWhoResumesIsNotTurnedAwayAtTheQueue(t *testing.T) {
	gated(t, Config{MaxRunning: 1}, func(t *testing.T, g *Gate) {
		holder := admitted(t, g, Request{PromptTokens: 10})
		back := waits(t, g, Request{ID: "resumes", PromptTokens: 10, Resume: 3})
		if a := g.Probe(Request{PromptTokens: 10, Priority: 1}); a.State != scheduler.Refused {
			t.Errorf("a queue without places: %+v", a)
		}
		holder.Release()
		wantTicket(t, back).Release()
	})
}

// MEGA-50: admitted means met, before an engine whose requests take what they took before, ±20 % in 1 of 100 at most.
func TestAdmittedMeansMet(t *testing.T) {
	for noise, most := range map[float64]float64{0: 0, 0.2: 0.01} {
		promised, missed := 0, 0
		for seed := range uint64(20) {
			gated(t, Config{Blocks: 400, BlockSize: 16, MaxRunning: 4, MaxWaiting: 50},
				func(t *testing.T, g *Gate) {
					p, m := deadlined(t, g, rand.New(rand.NewPCG(seed, 4)), noise)
					promised, missed = promised+p, missed+m
				})
		}
		if promised < 500 || float64(missed) > most*float64(promised) {
			t.Errorf("noise %v: %d of %d deadlines missed", noise, missed, promised)
		}
		t.Logf("noise %v: %d of %d deadlines missed", noise, missed, promised)
	}
}

// deadlined has requests come for a while and returns how many with a deadline were admitted, and missed it.
func deadlined(t *testing.T, g *Gate, dice *rand.Rand, noise float64) (promised, missed int) {
	var all sync.WaitGroup
	var mu sync.Mutex // guards dice and the counts
	for i := range 120 {
		mu.Lock()
		r := Request{PromptTokens: 50 + dice.IntN(400), MaxNew: 20 + dice.IntN(60), Priority: dice.IntN(2)}
		if i > 20 {
			r.Deadline = time.Now().Add(time.Duration(1000+dice.IntN(4000)) * time.Millisecond)
		}
		pause := time.Duration(dice.IntN(500)) * time.Millisecond
		mu.Unlock()
		vary := func(d time.Duration) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(float64(d) * (1 + noise*(2*dice.Float64()-1)))
		}
		all.Go(func() {
			ticket, err := g.Admit(t.Context(), r)
			if err != nil {
				return
			}
			defer ticket.Release()
			time.Sleep(vary(20*time.Millisecond + time.Duration(r.PromptTokens)*time.Millisecond))
			ticket.FirstToken()
			for n := 1; n < r.MaxNew; {
				step := min(8, r.MaxNew-n)
				time.Sleep(vary(time.Duration(step) * 20 * time.Millisecond))
				n += step
				ticket.Grow(n)
			}
			mu.Lock()
			defer mu.Unlock()
			if !r.Deadline.IsZero() {
				promised++
				if time.Now().After(r.Deadline) {
					missed++
				}
			}
		})
		time.Sleep(pause)
	}
	all.Wait()
	return promised, missed
}
