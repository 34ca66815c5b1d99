package gate

import (
	"testing"
)

// had is what tenants have had.
type had map[string]int

func (h had) Key(tenant string) uint64        { return uint64(len(tenant)) }
func (h had) Had(tenant string) int           { return h[tenant] }
func (h had) Started(tenant string, cost int) { h[tenant] += cost }

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
