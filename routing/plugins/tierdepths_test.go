package plugins_test

import (
	"strings"
	"testing"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// tiered returns a real index in which replica h holds the first blocks of chain in tiers, one after the other.
func tiered(t *testing.T, chain []kvpool.BlockHash, tiers ...[]index.Tier) *runs.Indexer {
	t.Helper()
	x, err := runs.New(index.Config{Hosts: len(tiers)})
	if err != nil {
		t.Fatal(err)
	}
	for h, each := range tiers {
		if err := x.Admit(index.HostID(h)); err != nil {
			t.Fatal(err)
		}
		batch := index.Batch{Host: index.HostID(h), Epoch: 1, Seq: 1}
		for i, tier := range each {
			op := index.Op{Kind: index.Store, Tier: tier, Blocks: chain[i : i+1], RootKnown: i == 0}
			if i > 0 {
				op.HasParent, op.Parent = true, chain[i-1]
			}
			batch.Ops = append(batch.Ops, op)
		}
		if got := x.Apply(batch); got != index.Applied {
			t.Fatal(got)
		}
	}
	return x
}

// GAIE-24, DYN-01. llm-d's case: three blocks in a row count 3, with the third in the CPU's memory only 2.5; none from
// the first on counts 0.
//
//nolint:lll // raw text that cannot be broken
func TestBlocksInSlowerTiersCountForLess(t *testing.T) {
	w := newWorld(t, 4)
	text := strings.Repeat("0123456789abcdef", 6)
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	const gpu, cpu, ssd = index.GPU, index.CPU, index.SSD
	x := tiered(t, chain, []index.Tier{gpu, gpu, gpu}, nil, []index.Tier{gpu, gpu, cpu}, []index.Tier{cpu, ssd})
	w.deps.Index, w.deps.Tiers = x, x
	prepare := []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes"}, {Name: "prefix-depths"},
		{Name: "tier-depths"}}
	asked := given{facts: prompt(text)}
	weights := map[string]any{"cpu_weight": 0.5, "ssd_weight": 0.2}
	if got := w.rated("cache-affinity", weights, asked, prepare...); !near(got, []float64{3. / 6, 0, 2.5 / 6, 0.7 / 6}) {
		t.Errorf("affinity %v", got)
	}
	if got := w.rated("cache-affinity", nil, asked, prepare[:3]...); !near(got, []float64{3. / 6, 0, 3. / 6, 2. / 6}) {
		t.Errorf("affinity with all tiers alike %v", got)
	}
	// Costs in blocks: 6 − 3, 6, 6 − 2.75, 6 − 1, and 6 to hold for all.
	prepare = append(prepare, routing.PluginSpec{Name: "in-flight-load"})
	credits := map[string]any{"host_credit": 0.75, "disk_credit": 0.25}
	if got := w.rated("dynamo-cost", credits, asked, prepare...); !near(got, []float64{1, 0, 2.75 / 3, 1. / 3}) {
		t.Errorf("cost %v", got)
	}
}
