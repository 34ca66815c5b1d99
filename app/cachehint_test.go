package app_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
	"octet/routing/plugins"
)

// hinted returns what an engine was told of its cache, by what it is of.
func (w *world) hinted(replica, of string) int {
	w.T.Helper()
	prefix := fmt.Sprintf(`octet_engine_hinted_total{engine="0",model_name="debug",of=%q} `, of)
	for line := range strings.Lines(w.page(w.Engines[replica].URL)) {
		if text, ok := strings.CutPrefix(line, prefix); ok {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				w.T.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// MOD2-43: the engine that is picked is told what the index believes it to hold, and holds just that. A prompt that no
// replica holds comes without, and what a client says of itself does not arrive.
func TestTheEngineIsToldWhatItIsBelievedToHold(t *testing.T) {
	w := newWorld(t, fmt.Sprintf(pair, "", ""), pairOf())
	cold, _ := w.Post("/v1/chat/completions", lengthy("a hint"), "X-Octet-Cache-Hint", "blocks=7, tokens=112")
	w.exact()
	if n := w.hinted("debug-0", "requests") + w.hinted("debug-1", "requests"); n != 0 || cold.StatusCode != 200 {
		t.Errorf("status %d, %d hints for a cold prompt", cold.StatusCode, n)
	}
	for _, mode := range []string{"unary", "streamed"} {
		_, resp := w.says(mode, lengthy("a hint"))
		r := w.receipt(resp)
		at := r.Attempts[0]
		before := map[string]int{"unary": 0, "streamed": 1}[mode]
		tokens := at.PredictedTokens
		for of, want := range map[string]int{"requests": 1, "tokens": tokens, "blocks": tokens / 16, "gpu": tokens / 16,
			"cpu": 0} {
			if got := w.hinted(at.Replica, of); got != want*(before+1) || tokens == 0 {
				t.Errorf("%s: told of %d %s, want %d", mode, got, of, want*(before+1))
			}
		}
		if mode == "unary" && (at.DeliveredTokens == nil || *at.DeliveredTokens != tokens) {
			t.Errorf("predicted %d, delivered %v", tokens, at.DeliveredTokens)
		}
	}
}

// The hint counts each block in the fastest tier that has it. MOD2-43
//
//nolint:lll // raw text that cannot be broken
func TestTheHintIsOfTheWinnersTiers(t *testing.T) {
	w := newWorld(t, fmt.Sprintf(pair, "", ""), pairOf())
	host := w.Replica("debug-1").Host
	tiers := w.App.Server().Runtime().Specialist("debug").Insight.Tiers
	var chain []kvpool.BlockHash
	for b := range uint64(12) {
		chain = append(chain, kvpool.BlockHash(b+1))
	}
	for seq, op := range []index.Op{
		{Kind: index.Store, Tier: index.CPU, Blocks: chain, RootKnown: true},
		{Kind: index.Store, Tier: index.GPU, Blocks: chain[:10], RootKnown: true},
	} {
		if out := w.App.Fabric().Beliefs().Apply(index.Batch{Host: host, Epoch: 1 << 62, Seq: uint64(seq), Ops: []index.Op{op}}); out != index.Applied {
			t.Fatal(out)
		}
	}
	c := routing.Acquire(routing.Facts{})
	defer c.Release()
	plugins.BlockHashes.Put(c, chain)
	if got := tiers(c.View(), host, 12); got != [index.Tiers]int{10, 2, 0} {
		t.Errorf("%v", got)
	}
	if got := tiers(c.View(), host, 11); got != [index.Tiers]int{10, 1, 0} {
		t.Errorf("%v", got)
	}
}

// MOD2-40: what serves prefers the replica that has the prompt on its GPU to the one that has it in CPU memory, by the
// preset as it is, and does not weigh tiers of a replica whose events tell nothing.
func TestTheReplicaWithTheFasterCopyIsPicked(t *testing.T) {
	w := newWorld(t, fmt.Sprintf(pair, "", ""), pairOf())
	sp := w.App.Server().Runtime().Specialist("debug")
	beliefs := w.App.Fabric().Beliefs()
	text := []byte(strings.Repeat("a prompt of more than one block ", 40))
	plan := func() (chain []kvpool.BlockHash, first index.HostID) {
		c := routing.Acquire(routing.Facts{Specialist: "debug", Now: time.Now(), Dry: true,
			Text:   func(dst []byte) []byte { return append(dst, text...) },
			Pieces: func() [][]byte { return [][]byte{text} }})
		defer c.Release()
		sp.Pipeline.Seed(c, sp.Snapshot())
		c.Candidates(sp.Snapshot().Hosts)
		plan, err := sp.Workflow.Plan(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(plugins.BlockHashes.Get(c.View())), plan.Steps[0].Ranked[0].Host
	}
	chain, slow := plan() // the lower of two that hold nothing
	fast := w.Replica("debug-0").Host + w.Replica("debug-1").Host - slow
	for host, tier := range map[index.HostID]index.Tier{slow: index.CPU, fast: index.GPU} {
		if out := beliefs.Apply(index.Batch{Host: host, Epoch: 1 << 62, Seq: 1, Ops: []index.Op{
			{Kind: index.Store, Tier: tier, Blocks: chain, RootKnown: true}}}); out != index.Applied {
			t.Fatal(out)
		}
	}
	if _, got := plan(); got != fast || len(chain) < 10 {
		t.Errorf("%d blocks: replica %d is picked, %d has them on its GPU", len(chain), got, fast)
	}
	if below := beliefs.BelowGPU(); below != index.HostSet(slow) {
		t.Errorf("below the GPU: %v", below)
	}
	beliefs.Doubt(index.HostSet(slow))
	if below := beliefs.BelowGPU(); !below.Empty() {
		t.Errorf("below the GPU, by events that are not believed: %v", below)
	}
}
