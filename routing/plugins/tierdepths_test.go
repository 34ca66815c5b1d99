package plugins_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/plugins"
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

// MOD2-40: each preset that weighs prefix caches prefers the faster tier, without a parameter. MOD2-42: it reads the
// tier maps of candidates that have slower tiers and hold a part, and none in a fleet that has no slower tiers.
func TestPresetsPreferTheFasterTier(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 6)
	const gpu, cpu, ssd = index.GPU, index.CPU, index.SSD
	for _, name := range []string{"default", "cache-aware", "cache-aware-sticky", "dynamo-kv", "epp-default",
		"disaggregated"} {
		w := newWorld(t, 4)
		chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
		x := tiered(t, chain, []index.Tier{ssd, ssd, ssd}, nil, []index.Tier{gpu, gpu, gpu},
			[]index.Tier{gpu, cpu, cpu})
		w.deps.Index, w.deps.Tiers = x, x
		spec := mustPreset(t, name)
		spec.Pick = routing.PluginSpec{Name: "max-score"}
		if got := fmt.Sprint(w.pick(w.build(spec), prompt(text))); got != "[2 3 0 1]" {
			t.Errorf("%s ranks %s", name, got)
		}
		if got := x.Stats().Hints; got != 2 {
			t.Errorf("%s read %d tier maps, want those of the two that have slower tiers", name, got)
		}
		alike := tiered(t, chain, nil, []index.Tier{gpu}, []index.Tier{gpu, gpu})
		w.deps.Index, w.deps.Tiers = alike, alike
		w.pick(w.build(spec), prompt(text))
		if got := alike.Stats().Hints; got != 0 {
			t.Errorf("%s read %d tier maps, and all blocks are in GPUs", name, got)
		}
	}
}

// MOD2-40: a weight that a profile sets needs tier-depths; the default weights do without.
func TestAWeightOfATierNeedsTierDepths(t *testing.T) {
	for _, score := range []routing.PluginSpec{
		{Name: "cache-affinity", Params: map[string]any{"cpu_weight": 0.5}},
		{Name: "least-work", Params: map[string]any{"ssd_weight": 0.5}},
		{Name: "dynamo-cost", Params: map[string]any{"disk_credit": 0.5}},
	} {
		for _, set := range []bool{true, false} {
			w := newWorld(t, 1)
			if !set {
				score.Params = nil
			}
			spec := routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"},
				Prepare: []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes"}, {Name: "prefix-depths"},
					{Name: "in-flight-load"}},
				Score: []routing.WeightedSpec{{PluginSpec: score, Weight: 1}, {PluginSpec: routing.PluginSpec{
					Name: "token-load"}, Weight: 1}},
			}
			_, err := routing.Build(plugins.Complete(spec, false), plugins.Registry(w.deps))
			var faults routing.Faults
			errors.As(err, &faults)
			if set && (len(faults) != 1 || faults[0].Slot != "tier_depths") || !set && err != nil {
				t.Errorf("%s %v: %v", score.Name, score.Params, err)
			}
		}
	}
}

// MOD2-40: a decision looks at no more than maxTierReads blocks or so, however many its candidates hold, and each
// second, third or later block stands for those that are left out.
func TestTierDepthsLooksAtABoundedNumberOfBlocks(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 3000)
	w := newWorld(t, 4)
	chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
	var tiers [4][]index.Tier
	for h := range tiers {
		tiers[h] = make([]index.Tier, len(chain)) // in the GPU
		for i := len(chain) * (h + 1) / 5; i < len(chain); i++ {
			tiers[h][i] = index.CPU
		}
	}
	x := &looks{Indexer: tiered(t, chain, tiers[:]...)}
	w.deps.Index, w.deps.Tiers = x, x
	c := w.request(prompt(text))
	if _, err := w.build(mustPreset(t, "default")).Select(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if x.blocks > 4096+4 {
		t.Errorf("%d blocks were looked at", x.blocks)
	}
	got := plugins.TierDepths.Get(c.View())
	for h := range tiers {
		want := len(chain) * (h + 1) / 5
		if spread := got.Blocks[h]; int(spread[index.GPU])+int(spread[index.CPU]) != len(chain) ||
			max(want-int(spread[index.GPU]), int(spread[index.GPU])-want) > 3 {
			t.Errorf("replica %d: %v, want %d in the GPU of %d", h, spread, want, len(chain))
		}
	}
}

// looks counts the blocks that were asked for.
type looks struct {
	*runs.Indexer
	blocks int
}

func (l *looks) InTiers(h index.HostID, chain []kvpool.BlockHash, depth, every int) [index.Tiers]int {
	l.blocks += (depth + every - 1) / every
	return l.Indexer.InTiers(h, chain, depth, every)
}
