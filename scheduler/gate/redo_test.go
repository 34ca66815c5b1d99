package gate

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"octet/scheduler"
)

// thrifty has one place, and rates that say that a prompt of 100 tokens takes a second and ten tokens another.
var thrifty = Config{MaxRunning: 1, MaxWaiting: 64, Redo: 0.05}

// served runs a request to its end, or until it is told to go.
func served(t *Ticket) (done bool) {
	defer t.Release()
	if !spent(t, time.Second) {
		return false
	}
	t.FirstToken()
	for i := range 10 {
		if !spent(t, 100*time.Millisecond) {
			return false
		}
		t.Grow(i + 2)
	}
	return true
}

func spent(t *Ticket, d time.Duration) bool {
	select {
	case <-t.Preempted():
		return false
	case <-time.After(d):
		return true
	}
}

func warm(t *testing.T, g *Gate) {
	for range 8 {
		served(admitted(t, g, Request{ID: "warm", PromptTokens: 100, MaxNew: 11}))
	}
}

// Within its share a Gate preempts as it always does; beyond it the urgent wait for the next place, unless their
// deadline forbids it.
func TestBeyondItsShareAGatePreemptsForDeadlinesAlone(t *testing.T) {
	gated(t, thrifty, func(t *testing.T, g *Gate) {
		warm(t, g)
		low := Request{ID: "low", PromptTokens: 100, MaxNew: 11, Victim: true}
		high := Request{ID: "high", PromptTokens: 100, MaxNew: 11, Priority: 1}
		preempts := func(r Request) bool {
			t.Helper()
			victim := admitted(t, g, low)
			time.Sleep(1200 * time.Millisecond) // in a bubble
			victim.FirstToken()
			got := waits(t, g, r)
			gone := told(victim)
			victim.Release()
			served(wantTicket(t, got))
			return gone
		}
		for i := range 2 { // a second of work each, and less than a second is saved up
			if !preempts(high) && i == 0 {
				t.Error("not even within its share")
			}
		}
		if preempts(high) {
			t.Error("preempted though the share is spent")
		}
		soon := high
		// 2 s to serve it, and half a second of doubt
		soon.Deadline = time.Now().Add(1200*time.Millisecond + 2500*time.Millisecond)
		if !preempts(soon) {
			t.Error("the share cost a deadline")
		}
		time.Sleep(2 * redoMemory) // in a bubble
		if !preempts(high) {
			t.Error("nothing was saved up")
		}
	})
}

// A request that was denied is thought of again when the share allows it, without another one having come or gone.
func TestWhoWasDeniedIsThoughtOfAgain(t *testing.T) {
	gated(t, thrifty, func(t *testing.T, g *Gate) {
		warm(t, g)
		long := admitted(t, g, Request{ID: "long", PromptTokens: 100, MaxNew: 4000, Victim: true})
		time.Sleep(time.Second) // in a bubble
		long.FirstToken()
		g.gateMu.Lock()
		redo := &g.model.preemption.redo
		redo.left, redo.at = -1e8, time.Since(g.origin) // 2 s until it is earned
		g.gateMu.Unlock()
		got := waits(t, g, Request{ID: "high", PromptTokens: 100, MaxNew: 11, Priority: 1})
		for i := 2; !told(long); i++ {
			if i > 40 {
				t.Fatal("never thought of again")
			}
			time.Sleep(100 * time.Millisecond) // in a bubble
			long.Grow(i)
		}
		long.Release()
		wantTicket(t, got).Release()
	})
}

// However the urgent come, what is thrown away stays within the share of the time, the reserve and one victim.
func TestWorkDoneAgainStaysWithinItsShare(t *testing.T) {
	cfg := thrifty
	cfg.MaxRunning = 4
	gated(t, cfg, func(t *testing.T, g *Gate) {
		warm(t, g)
		begun := time.Now()
		var all sync.WaitGroup
		var lost atomic.Int64 // ns: of a second of prefill, as much as was done
		draw := rand.New(rand.NewPCG(4, 2))
		for range 600 {
			r := Request{ID: "r", PromptTokens: 100, MaxNew: 11, Priority: draw.IntN(3), Victim: true,
				Arrived: time.Now()}
			all.Go(func() {
				for {
					ticket, err := g.Admit(t.Context(), r)
					if err != nil && !errors.Is(err, scheduler.ErrRefused) {
						t.Error(err)
					}
					if err != nil {
						return
					}
					start := time.Now()
					if served(ticket) {
						return
					}
					lost.Add(int64(min(time.Since(start), time.Second)))
					r.Paid = true
				}
			})
			time.Sleep(time.Duration(draw.IntN(400)) * time.Millisecond) // in a bubble
		}
		all.Wait()
		s := g.Stats()
		most := time.Duration(cfg.Redo*float64(time.Since(begun)+redoMemory)) + 2*time.Second
		if s.Preemptions == 0 || time.Duration(lost.Load()) > most {
			t.Errorf("%d preemptions in %v: %v of work, %v are allowed", s.Preemptions, time.Since(begun),
				time.Duration(lost.Load()), most)
		}
	})
}

// An answer that comes whole is lost whole: of two, the one that has hardly begun gives way.
func TestAnAnswerThatComesWholeIsPricedByWhatItHasSaid(t *testing.T) {
	gated(t, Config{MaxRunning: 2, MaxWaiting: 4}, func(t *testing.T, g *Gate) {
		for n := range 8 { // of several lengths, so that the price of a token is known
			ticket := admitted(t, g, Request{ID: "warm", PromptTokens: 50 * (n + 1)})
			time.Sleep(time.Duration(n+1) * 500 * time.Millisecond) // in a bubble
			ticket.FirstToken()
			ticket.Release()
		}
		old := admitted(t, g, Request{ID: "old", PromptTokens: 100, MaxNew: 100, Victim: true, Whole: true})
		time.Sleep(time.Minute) // in a bubble
		young := admitted(t, g, Request{ID: "young", PromptTokens: 200, MaxNew: 100, Victim: true, Whole: true})
		time.Sleep(3 * time.Second) // in a bubble
		got := waits(t, g, Request{ID: "high", PromptTokens: 100, MaxNew: 10, Priority: 1})
		if told(old) || !told(young) {
			t.Errorf("told to go: the one of a minute %t, the one of three seconds %t", told(old), told(young))
		}
		young.Release()
		wantTicket(t, got).Release()
		old.Release()
	})
}

// A victim that cost more than is ever saved up is paid for in the time that saves so much, and the urgent wait no
// longer.
func TestADearVictimIsPaidForInBoundedTime(t *testing.T) {
	s := redoBudget{}
	s.allow(0.05, 0)
	s.left -= float64(time.Hour)
	s.earn(0)
	s.earn(redoMemory + 1)
	if s.left <= 0 {
		t.Errorf("%v are owed after %v", time.Duration(-s.left), redoMemory)
	}
}
