package reference

import (
	"testing"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-42
func TestTierMapsAreReadForTheWinnerOnly(t *testing.T) {
	chain := indextest.Chain(16, "")
	x := indextest.Seeded(t, New, chain, 16, 8, 4)
	x.hosts[0].mu.Lock() // a query that looked into a tier map would hang
	x.hosts[1].mu.Lock()
	var out [index.MaxHosts]uint16
	x.Depths(chain, index.HostSet(0, 1, 2), &out)
	best := indextest.Rank(&out, index.HostSet(0, 1, 2), nil)[0]
	x.hosts[0].mu.Unlock()
	x.hosts[1].mu.Unlock()
	if got := x.Stats().Hints; got != 0 {
		t.Fatalf("%d tier maps read by a query", got)
	}
	x.InTiers(best.Host, chain, int(best.Depth), 1)
	if got := x.Stats().Hints; got != 1 {
		t.Fatalf("%d tier maps read for one winner", got)
	}
}

func TestBlockThatClaimsToFollowItselfStaysLoose(t *testing.T) {
	chain := indextest.Chain(1, "")
	x := indextest.Seeded(t, New, nil, 0)
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Store, Blocks: chain, Parent: chain[0], HasParent: true})
	if err := x.Check(); err != nil || x.Host(0).Detached != 1 {
		t.Fatalf("%v, %d detached", err, x.Host(0).Detached)
	}
	indextest.Apply(t, x, 0, 3, index.Op{Kind: index.Remove, Blocks: chain})
	if err := x.Check(); err != nil || x.Host(0).Detached != 0 || len(x.hosts[0].tiers.blocks) != 0 {
		t.Fatalf("%v, %+v", err, x.Host(0))
	}
}
