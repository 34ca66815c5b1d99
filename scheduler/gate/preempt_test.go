package gate

import (
	"testing"
	"testing/synctest"
	"time"

	"octet/kvpool"
	"octet/scheduler"
)

func told(t *Ticket) bool { return t.Yielding() }

// MEGA-25: strictly more urgent, the lowest victim, the latest of equals, only if the head fits then, once.
func TestGatePreemptsTheLowestVictim(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		victim := func(id string, blocks, priority int) *Ticket {
			r := ofBlocks(blocks)
			r.ID, r.Priority, r.Victim = id, priority, true
			return admitted(t, g, r)
		}
		low1, low2, mid := victim("low1", 2, 0), victim("low2", 2, 0), victim("mid", 2, 1)
		fixed := admitted(t, g, Request{ID: "fixed", PromptTokens: 31, Priority: -5}) // 2 free
		equal := waits(t, g, Request{ID: "equal", PromptTokens: 47, Priority: 0})
		if told(low1) || told(low2) {
			t.Fatal("equal priority took a place")
		}
		high := waits(t, g, Request{ID: "high", PromptTokens: 63, Priority: 5})
		if told(low1) || !told(low2) || told(mid) || told(fixed) {
			t.Fatalf("told to go: low1 %t, low2 %t, mid %t, fixed %t", told(low1), told(low2), told(mid), told(fixed))
		}
		if s := g.Stats(); s.Preempting != 1 || s.Preemptions != 1 {
			t.Errorf("%+v", s)
		}
		low1.Release()
		wantTicket(t, high).Release() // low1 went by itself before low2 did
		low2.Release()
		wantTicket(t, equal).Release()
		mid.Release()
		fixed.Release()
	})
}

func TestNobodyIsPreemptedForNothing(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		r := ofBlocks(2)
		r.Victim = true
		low := admitted(t, g, r)
		fixed := admitted(t, g, ofBlocks(6))
		head := ofBlocks(5)
		head.Priority = 9
		got := waits(t, g, head)
		if told(low) {
			t.Error("preempted, though 4 blocks are not 5")
		}
		fixed.Release()
		wantTicket(t, got).Release()
		low.Release()
	})
}

// A preempted request that comes back with its first arrival stands before those that came later.
func TestPreemptedRequestResumesInItsPlace(t *testing.T) {
	gated(t, Config{Blocks: 10, BlockSize: 16, MaxRunning: 1, MaxWaiting: 9}, func(t *testing.T, g *Gate) {
		r := Request{ID: "low", PromptTokens: 20, Victim: true, Arrived: time.Now()}
		low := admitted(t, g, r)
		low.FirstToken()
		time.Sleep(time.Millisecond)
		later := waits(t, g, Request{ID: "later", PromptTokens: 20})
		high := waits(t, g, Request{ID: "high", PromptTokens: 20, Priority: 1})
		<-low.Preempted()
		low.Release()
		top := wantTicket(t, high)
		r.Resume = 7
		back := waits(t, g, r)
		time.Sleep(time.Second)
		top.Release()
		again := wantTicket(t, back)
		if again.Waited() != time.Second || came(later) != nil {
			t.Errorf("waited %v; the later one: %v", again.Waited(), came(later))
		}
		again.Release()
		wantTicket(t, later).Release()
	})
}

// hears is a Watcher.
type hears func()

func (f hears) Preempted() { f() }

func TestWatchHearsOfAPreemptionUntilItEnds(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		victim := Request{ID: "low", PromptTokens: 79, Victim: true}
		heard := make(chan string, 4)
		a, b := admitted(t, g, victim), admitted(t, g, victim)
		a.Watch(hears(func() { heard <- "a" }))
		b.Watch(hears(func() { heard <- "b" }))
		b.Watch(nil)
		high := waits(t, g, Request{ID: "high", PromptTokens: 159, Priority: 1})
		if got := <-heard; got != "a" {
			t.Errorf("%s heard of it", got)
		}
		<-b.Preempted()
		synctest.Wait()
		if len(heard) != 0 {
			t.Error("a watch that had ended heard of it")
		}
		b.Watch(hears(func() { heard <- "late" }))
		if got := <-heard; got != "late" {
			t.Errorf("%s heard of it", got)
		}
		a.Release()
		b.Release()
		wantTicket(t, high).Release()
	})
}

// Growth that finds no block is a debt: counted, paid first, oldest first; none is admitted meanwhile.
func TestDebtsArePaidBeforeAnybodyIsLetIn(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		a, b, c := admitted(t, g, ofBlocks(4)), admitted(t, g, ofBlocks(3)), admitted(t, g, ofBlocks(3))
		a.Grow(1)  // into a fifth block, which is owed
		b.Grow(17) // into two more
		a.Grow(2)  // nothing new
		if s := g.Stats(); s.Preempting != 2 || s.Free != 0 || g.model.engine.ledger.overcommit != 3 {
			t.Fatalf("%d owed: %+v", g.model.engine.ledger.overcommit, s)
		}
		small := waits(t, g, Request{ID: "small", PromptTokens: 1, Priority: 9})
		if a := g.Probe(Request{PromptTokens: 1, Priority: 10}); a.State != scheduler.Waiting {
			t.Errorf("probe while a debt stands: %v", a)
		}
		c.Release()
		if s := g.Stats(); s.Preempting != 0 || a.lease.table.Len() != 5 || b.lease.table.Len() != 5 || s.Free != 0 {
			t.Errorf("a has %d, b has %d: %+v", a.lease.table.Len(), b.lease.table.Len(), s)
		}
		if came(small) != nil {
			t.Error("let in before the debt was paid")
		}
		b.Release()
		wantTicket(t, small).Release()
		a.Release()
	})
}

func TestCachedBlocksAreEvictedBeforeAnybodyGoesIntoDebt(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		var h kvpool.Hasher
		r := ofBlocks(9)
		r.Chain = h.Chain(nil, 1, make([]uint32, r.PromptTokens), 16)
		first := admitted(t, g, r)
		first.FirstToken()
		first.Release()
		if n := g.Stats().Cached; n != 8 {
			t.Fatalf("%d cached", n)
		}
		b := admitted(t, g, ofBlocks(5))
		b.Grow(5 * 16)
		if s := g.Stats(); s.Preempting != 0 || s.Cached != 0 || s.Free != 0 {
			t.Errorf("%+v", s)
		}
		b.Grow(5*16 + 1)
		if s := g.Stats(); s.Preempting != 1 {
			t.Errorf("%+v", s)
		}
		b.Release()
	})
}

// A request that was pinned keeps its place; one that was told to give way cannot be pinned any more.
func TestPinnedTicketIsNoVictim(t *testing.T) {
	gated(t, Config{MaxRunning: 2, MaxWaiting: 2}, func(t *testing.T, g *Gate) {
		a, b := admitted(t, g, Request{ID: "a", Victim: true}), admitted(t, g, Request{ID: "b", Victim: true})
		if !b.Pin() || !b.Pin() {
			t.Error("not pinned")
		}
		got := waits(t, g, Request{ID: "high", Priority: 1})
		if !told(a) || told(b) || a.Pin() {
			t.Errorf("told to go: a %t, b %t", told(a), told(b))
		}
		a.Release()
		wantTicket(t, got).Release()
		b.Release()
	})
}
