package plugins_test

import (
	"slices"
	"testing"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
	"octet/routing/index/reference"
	"octet/routing/index/runs"
)

// MOD2-01, MOD2-11: what either index says of a prompt becomes a ranking of replicas: the deeper before the shallower,
// of equals the lowest host first, and those that hold nothing last. The first case is the documents' worked example.
func TestReplicasAreRankedByHowMuchTheyHold(t *testing.T) {
	const text = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" +
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" // 8 blocks
	for _, test := range []struct {
		depths []int
		want   []index.HostID
	}{
		{[]int{6, 4, 8, 2}, []index.HostID{2, 0, 1, 3}},
		{[]int{3, 0, 7, 3, 0, 7, 8}, []index.HostID{6, 2, 5, 0, 3, 1, 4}},
		{[]int{0, 0, 0}, []index.HostID{0, 1, 2}},
	} {
		for _, x := range bothIndexes(t, len(test.depths)) {
			w := newWorld(t, len(test.depths))
			w.deps.Index = x
			chain := w.deps.Hasher.TextChain(nil, w.deps.Hasher.Root("debug", "", ""), []byte(text), 16)
			for h, n := range test.depths {
				holdLeading(t, x, index.HostID(h), chain[:n])
			}
			p := w.build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: "max-score"},
				Prepare: []routing.PluginSpec{{Name: "tokenize"}, {Name: "block-hashes"}, {Name: "prefix-depths"}},
				Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "cache-affinity"},
					Weight: 1}}})
			if got := w.pick(p, prompt(text)); !slices.Equal(got, test.want) {
				t.Errorf("%T: depths %d are ranked %d, want %d", x, test.depths, got, test.want)
			}
		}
	}
}

func bothIndexes(t *testing.T, hosts int) []index.Indexer {
	t.Helper()
	one, err := runs.New(index.Config{Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	other, err := reference.New(index.Config{Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	return []index.Indexer{one, other}
}

func holdLeading(t *testing.T, x index.Indexer, h index.HostID, blocks []kvpool.BlockHash) {
	t.Helper()
	if err := x.Admit(h); err != nil {
		t.Fatal(err)
	}
	ops := []index.Op{{Kind: index.Store, Blocks: blocks, RootKnown: true}}
	if got := x.Apply(index.Batch{Host: h, Seq: 1, Ops: ops}); got != index.Applied {
		t.Fatal(got)
	}
}
