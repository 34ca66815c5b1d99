package gate

import (
	"testing"
)

// had is what tenants have had.
type had map[string]int

func (h had) Key(tenant string) uint64           { return uint64(len(tenant)) }
func (h had) Had(tenant string, _ int) int       { return h[tenant] }
func (h had) Started(tenant string, _, cost int) { h[tenant] += cost }

// A request waits behind one of its own priority at another gateway if that one's tenant has had clearly less, and for
// no other reason: not behind one of its own tenant, nor of one that has had as much.
func TestATenantThatHasHadLessElsewhereIsFirst(t *testing.T) {
	for name, test := range map[string]struct {
		beside Beside
		waits  bool
	}{
		"it has had less":        {Beside{Waits: true, Tenant: 3, Had: 900}, true},
		"it has had nothing":     {Beside{Waits: true, Tenant: 3}, true},
		"it has had as much":     {Beside{Waits: true, Tenant: 3, Had: 1000}, false},
		"it has had a bit less":  {Beside{Waits: true, Tenant: 3, Had: 950}, false},
		"it is the same tenant":  {Beside{Waits: true, Tenant: 2, Had: 0}, false},
		"its tenant is not told": {Beside{Waits: true}, false},
		"it is less urgent":      {Beside{Waits: true, Urgent: -1, Tenant: 3}, false},
		"it is more urgent":      {Beside{Waits: true, Urgent: 1, Tenant: 3, Had: 5000}, true},
		"none waits":             {Beside{Tenant: 3}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, tenants := hundredBlocks, had{"us": 1000}
			cfg.Shares = tenants
			gated(t, cfg, func(t *testing.T, g *Gate) {
				g.Beside(test.beside)
				r := ofBlocks(10)
				r.Tenant = "us"
				if !test.waits {
					admitted(t, g, r).Release()
					g.mustBalance(t)
					return
				}
				w := waits(t, g, r)
				g.mustBalance(t)
				if own := g.Own(); own.Tenant != 2 || own.Had != 1000 || own.Waiting != 1 {
					t.Errorf("it tells %+v", own)
				}
				g.Beside(Beside{})
				wantTicket(t, w).Release()
				g.mustBalance(t)
			})
		})
	}
}

// What a tenant's requests cost is counted as they start, whether they waited or not.
func TestWhatTenantsHaveIsCountedAsItStarts(t *testing.T) {
	cfg, tenants := hundredBlocks, had{}
	cfg.Shares = tenants
	gated(t, cfg, func(t *testing.T, g *Gate) {
		r := ofBlocks(60)
		r.Tenant = "a"
		first := admitted(t, g, r)
		one := tenants["a"]
		r.Tenant = "b"
		w := waits(t, g, r)
		if one < r.PromptTokens || tenants["b"] != 0 {
			t.Errorf("%v", tenants)
		}
		first.Release()
		wantTicket(t, w).Release()
		if tenants["b"] < r.PromptTokens || tenants["a"] != one {
			t.Errorf("%v", tenants)
		}
	})
}

// What a request cost counts once it has ended, not what was thought of it; one that gave way and comes again counts
// no second time.
func TestWhatTenantsHaveIsSettledAtTheEnd(t *testing.T) {
	cfg, tenants := hundredBlocks, had{}
	cfg.Shares = tenants
	gated(t, cfg, func(t *testing.T, g *Gate) {
		r := ofBlocks(10)
		r.Tenant, r.MaxNew = "a", 500
		short := admitted(t, g, r)
		if tenants["a"] < r.PromptTokens+r.MaxNew {
			t.Errorf("at its start %v", tenants)
		}
		short.FirstToken()
		short.Grow(3)
		short.Release()
		if want := r.PromptTokens + 3; tenants["a"] != want {
			t.Errorf("%v, want %d", tenants, want)
		}
		r.Paid = true
		admitted(t, g, r).Release()
		if want := r.PromptTokens + 3; tenants["a"] != want {
			t.Errorf("after one that had paid %v, want %d", tenants, want)
		}
	})
}

// What another gateway starts for a tenant counts in the queue here as if it had been started here.
func TestWhatIsStartedElsewhereCountsInTheQueue(t *testing.T) {
	gated(t, Config{MaxRunning: 1, MaxWaiting: 100}, func(t *testing.T, g *Gate) {
		running, _, err := g.ask(&Request{ID: "first"})
		if err != nil {
			t.Fatal(err)
		}
		first := queues(t, g, Request{ID: "a", Tenant: "a", PromptTokens: 100})
		second := queues(t, g, Request{ID: "b", Tenant: "b", PromptTokens: 100})
		g.Elsewhere("a", 1, 900) // of another priority
		g.Elsewhere("a", 0, 100)
		g.mustBalance(t)
		running.Release()
		running = second.granted()
		g.Elsewhere("b", 0, 500)
		last := queues(t, g, Request{ID: "b2", Tenant: "b", PromptTokens: 100})
		running.Release()
		first.granted().Release()
		last.granted().Release()
		g.mustBalance(t)
	})
}
