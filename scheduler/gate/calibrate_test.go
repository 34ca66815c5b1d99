package gate

import (
	"testing"
	"time"

	"octet/scheduler"
)

var hundredBlocks = Config{Blocks: 100, BlockSize: 16, MaxRunning: 8, MaxWaiting: 8}

// pictured is all that a Gate tells.
type pictured struct {
	scheduler.Stats
	Calibration
}

func (g *Gate) pictured() pictured { return pictured{g.Stats(), g.Calibration()} }

func (g *Gate) mustBalance(t *testing.T) pictured {
	t.Helper()
	s := g.pictured()
	if err := g.Check(); err != nil || s.Free+s.Used+s.Reserved != s.Total {
		t.Fatalf("%v: %+v", err, s)
	}
	return s
}

// The load of other gateways is not free, and is again when they leave.
func TestOtherGatewaysLoadIsReserved(t *testing.T) {
	gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
		mine := admitted(t, g, ofBlocks(10))
		g.Reconcile(Observed{KVUsage: 0.7, HasUsage: true, Running: 5, HasLoad: true})
		if s := g.mustBalance(t); s.Withheld != 60 || s.Free != 30 || s.ModelError != 0 {
			t.Errorf("%+v", s)
		}
		large := waits(t, g, ofBlocks(40))
		g.Reconcile(Observed{KVUsage: 0.3, HasUsage: true, Running: 2, HasLoad: true})
		got := wantTicket(t, large)
		if s := g.mustBalance(t); s.Withheld != 20 {
			t.Errorf("%+v", s)
		}
		got.Release()
		mine.Release()
		g.Reconcile(Observed{HasUsage: true, HasLoad: true})
		if s := g.mustBalance(t); s.Free != 100 {
			t.Errorf("%+v", s)
		}
	})
}

// What has ended while the engine was asked is neither another gateway's nor an error of the model.
func TestWhatEndsWhileAnEngineIsAskedIsNoOtherGateways(t *testing.T) {
	gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
		ended, stays := admitted(t, g, ofBlocks(30)), admitted(t, g, ofBlocks(10))
		before := g.Own()
		ended.Release()
		says := Observed{KVUsage: 0.4, HasUsage: true, Running: 2, HasLoad: true, Before: &before}
		g.Reconcile(says)
		if s := g.mustBalance(t); s.Withheld != 0 || s.ModelError != 0 || s.Free != 90 {
			t.Errorf("what has ended is held against the pool: %+v", s)
		}
		says.KVUsage, says.Running = 0.6, 4
		g.Reconcile(says)
		if s := g.mustBalance(t); s.Withheld != 20 {
			t.Errorf("what others have beyond it: %+v", s)
		}
		stays.Release()
	})
}

// What the model has wrong is measured; a margin follows it, within its bound, and fades when the error has gone.
func TestAMarginFollowsTheErrorOfTheModel(t *testing.T) {
	gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
		ticket := admitted(t, g, ofBlocks(10))
		report := func(usage float64, times int) pictured {
			for range times {
				g.Reconcile(Observed{KVUsage: usage, HasUsage: true, Running: 1, HasLoad: true})
			}
			return g.mustBalance(t)
		}
		if s := report(0.1, 20); s.Withheld != 0 || s.ModelError != 0 {
			t.Errorf("a model that is right: %+v", s)
		}
		if s := report(0.22, 30); s.Withheld < 10 || s.Withheld > 12 || s.ModelError < 0.1 {
			t.Errorf("twelve blocks more than thought: %+v", s)
		}
		if s := report(0.9, 60); s.Withheld != 25 {
			t.Errorf("without a bound: %+v", s)
		}
		if s := report(0.1, 60); s.Withheld != 0 || s.ModelError > 0.01 {
			t.Errorf("long after: %+v", s)
		}
		g.Reconcile(Observed{HasPreemptions: true, HasUsage: true, KVUsage: 0.1})
		g.Reconcile(Observed{HasPreemptions: true, Preemptions: 2, HasUsage: true, KVUsage: 0.1})
		if s := g.mustBalance(t); s.Withheld != 3 {
			t.Errorf("the engine had to preempt: %+v", s)
		}
		ticket.Release()
	})
}

// Growth uses what is withheld before it goes into debt, and a debt is never made by withholding.
func TestGrowthTakesFromTheMarginFirst(t *testing.T) {
	gated(t, tenBlocks, func(t *testing.T, g *Gate) {
		a := admitted(t, g, ofBlocks(6))
		g.Reconcile(Observed{KVUsage: 1, HasUsage: true, Running: 4, HasLoad: true})
		if s := g.mustBalance(t); s.Withheld != 4 || s.Free != 0 {
			t.Errorf("%+v", s)
		}
		a.Grow(40)
		if s := g.mustBalance(t); s.Withheld != 1 || s.Preempting != 0 {
			t.Errorf("%+v", s)
		}
		a.Grow(80)
		g.Reconcile(Observed{KVUsage: 1, HasUsage: true, Running: 4, HasLoad: true})
		if s := g.mustBalance(t); s.Withheld != 0 || s.Preempting != 1 {
			t.Errorf("%+v", s)
		}
		a.Release()
	})
}

// Engines that tell nothing leave the model as it is, also one that only counts requests.
func TestSilentEnginesCorrectNothing(t *testing.T) {
	for _, cfg := range []Config{hundredBlocks, {MaxRunning: 2}} {
		gated(t, cfg, func(t *testing.T, g *Gate) {
			before := g.pictured()
			g.Reconcile(Observed{KVUsage: 0.5, Running: 7})
			if after := g.mustBalance(t); after != before {
				t.Errorf("%+v", after)
			}
		})
	}
}

// MEGA-75: what is offered and what is admitted are counted apart; a resumption is offered once.
func TestOfferedAndAdmittedAreCounted(t *testing.T) {
	gated(t, Config{MaxRunning: 1, MaxWait: time.Second}, func(t *testing.T, g *Gate) {
		holder := admitted(t, g, ofBlocks(1))
		for range 3 {
			_, err := g.Admit(t.Context(), ofBlocks(1))
			wantError(t, err, scheduler.ErrQueueFull)
		}
		holder.Release()
		admitted(t, g, Request{PromptTokens: 3, Resume: 2}).Release()
		if s := g.pictured(); s.Offered != 4 || s.Admitted != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// Delivered cached tokens show how far the model of the engine's cache is off.
func TestDeliveredCachedTokensAreHeldAgainstTheModel(t *testing.T) {
	gated(t, hundredBlocks, func(t *testing.T, g *Gate) {
		for range 40 {
			ticket := admitted(t, g, Request{PromptTokens: 64})
			ticket.Cached(32)
			ticket.Release()
		}
		if s := g.pictured(); s.CacheError < 0.45 || s.CacheError > 0.5 {
			t.Errorf("%+v", s)
		}
	})
}
