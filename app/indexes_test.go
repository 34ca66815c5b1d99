package app_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/reference"
	"octet/routing/index/runs"
)

// Either index is fed by the engines' events and finds a prompt again, to the block: they can be exchanged for each
// other. MOD2-24, MOD2-30
func TestEitherIndexGivesExactHits(t *testing.T) {
	cached := map[string]string{}
	for _, kind := range []string{"runs", "sharded"} {
		w := newWorld(t, "events: {index: "+kind+"}\n"+smallWorld, smallEngines())
		switch w.App.Fabric().Index().(type) {
		case *runs.Indexer:
			if kind != "runs" {
				t.Errorf("%s: the run index serves", kind)
			}
		case *reference.ShardedBlockIndexer:
			if kind != "sharded" {
				t.Errorf("%s: the sharded index serves", kind)
			}
		}
		body := chatOf(strings.Repeat("a shared and rather long preamble of a conversation; ", 20))
		first, _ := w.Post("/v1/chat/completions", body)
		w.heard()
		again, _ := w.Post("/v1/chat/completions", body)
		if again.Header.Get("X-Replica") != first.Header.Get("X-Replica") {
			t.Errorf("%s: went to %s, the prefix is at %s", kind, again.Header.Get("X-Replica"),
				first.Header.Get("X-Replica"))
		}
		cached[kind] = again.Header.Get("X-Cached-Tokens")
		eventually(t, "ledgers at their baseline", w.Quiet)
	}
	if cached["runs"] == "0" || cached["runs"] == "" || cached["sharded"] != cached["runs"] {
		t.Errorf("cached tokens of one prompt: %v", cached)
	}
}

// MOD2-24, MOD2-30, MOD2-31, MOD2-32, MOD2-33, MOD2-34, MOD2-35: the index of 256 shards is what a gateway serves by
// where events.index says so. Events of all replicas go into it at once, while it routes, and it holds what they say.
func TestTheShardedIndexServesWhereItIsChosen(t *testing.T) {
	w := newWorld(t, "events: {index: sharded}\n"+smallWorld, smallEngines())
	x, ok := w.App.Fabric().Index().(*reference.ShardedBlockIndexer)
	if !ok || reference.Shards != 256 {
		t.Fatalf("%T serves", w.App.Fabric().Index())
	}
	chain := func(h index.HostID) []kvpool.BlockHash {
		return kvpool.Hasher{}.Chain(nil, kvpool.BlockHash(h), make([]uint32, 16*200), 16)
	}
	var writers sync.WaitGroup
	for h := range x.Alive().All() {
		writers.Go(func() {
			blocks := chain(h)
			for seq := range uint64(200) {
				op := index.Op{Kind: index.Store, Blocks: blocks, RootKnown: true}
				if seq%2 == 1 {
					op = index.Op{Kind: index.Remove, Blocks: blocks[100:]}
				}
				b := index.Batch{Host: h, Epoch: 1 << 62, Seq: seq + 1, Ops: []index.Op{op}}
				if out := w.App.Fabric().Beliefs().Apply(b); out != index.Applied {
					t.Errorf("replica %d, batch %d: %s", h, seq, out)
				}
			}
		})
	}
	for i := range 40 {
		if resp, answer := w.Post("/v1/chat/completions", chatOf(fmt.Sprint("request ", i))); resp.StatusCode != 200 {
			t.Fatalf("%d: %s", resp.StatusCode, answer)
		}
	}
	writers.Wait()
	for h := range x.Alive().All() {
		var out [index.MaxHosts]uint16
		if x.Depths(chain(h), x.Alive(), &out); out[h] != 100 {
			t.Errorf("replica %d holds %d, want 100", h, out[h])
		}
	}
	if err := x.Check(); err != nil {
		t.Error(err)
	}
}
