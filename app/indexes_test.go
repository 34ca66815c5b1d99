package app_test

import (
	"strings"
	"testing"

	"octet/routing/index/reference"
	"octet/routing/index/runs"
)

// Either index is fed by the engines' events and finds a prompt again, to the block: they can be exchanged for each
// other.
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
		eventually(t, "the index follows", func() bool { return w.App.Fabric().Index().Stats().Entries > 10 })
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
