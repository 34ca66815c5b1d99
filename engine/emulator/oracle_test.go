package emulator

import (
	"errors"
	"slices"
	"testing"

	"octet/kvpool"
	"octet/scheduler/core"
)

// roomy never preempts, and computes prompts in one piece.
func roomy() core.Config {
	return core.Config{Blocks: 400, BlockSize: 4, MaxRunning: 8, MaxWaiting: 100, TokenBudget: 1000}
}

// cramped holds about two of the requests.
func cramped() core.Config {
	c := roomy()
	c.Blocks, c.TokenBudget, c.ChunkTokens = 36, 24, 7
	return c
}

// carried copies hybrids that give way to host memory and shares nothing.
func carried() core.Config {
	c := cramped()
	c.SSMStateBytes, c.KVTokenBytes, c.HostBytes, c.PrefillRate = 1, 1, 1<<20, 1
	return c
}

// plays are the ways to compute, each alone and then all at once.
func plays() map[string]play {
	base := []string{""}
	mixed := []string{"", "gdb-v2", "asan"}
	single, chunks, crowd := roomy(), roomy(), cramped()
	single.MaxRunning = 1
	chunks.ChunkTokens = 5
	cross := cramped()
	cross.CrossAdapter = true
	return map[string]play{
		"one after the other, prefixes reused": {core: single, adapters: base,
			wantTheater: func(x theater) bool { return x.stats.CachedTokens > 0 }},
		"batched": {core: roomy(), adapters: base,
			wantTheater: func(x theater) bool { return x.stats.CachedTokens > 0 }},
		"prefill in chunks": {core: chunks, adapters: base,
			wantTheater: func(x theater) bool { return x.chunked > 0 }},
		"preempted and resumed": {core: crowd, adapters: base,
			wantTheater: func(x theater) bool { return x.stats.Preemptions > 0 }},
		"adapters beside each other": {core: roomy(), adapters: mixed,
			wantTheater: func(x theater) bool { return x.stats.CachedTokens > 0 }},
		"speculating": {core: roomy(), adapters: base, draft: 3,
			wantTheater: func(x theater) bool { return x.accepted > 0 && x.rejected > 0 }},
		"aborted and run again": {core: chunks, adapters: base, draft: 3, abort: 3,
			wantTheater: func(x theater) bool { return x.aborted > 0 }},
		"adapters in one step": {core: cross, adapters: mixed, draft: 2,
			wantTheater: func(x theater) bool { return x.stats.CachedTokens > 0 && x.stats.Preemptions > 0 }},
		"copied to host memory": {core: carried(), adapters: mixed, draft: 3, abort: 5, cancel: 5,
			wantTheater: func(x theater) bool { return x.stats.Restores > 0 }},
		"cancelled half way": {core: crowd, adapters: mixed, cancel: 3},
		"all at once": {core: crowd, adapters: mixed, draft: 4, abort: 5, cancel: 5, wantTheater: func(x theater) bool {
			return x.stats.Preemptions > 0 && x.stats.CachedTokens > 0 && x.accepted > 0 && x.rejected > 0 &&
				x.aborted > 0 && x.chunked > 0
		}},
	}
}

// MEGA-23, MEGA-30, MEGA-35, MEGA-38, MEGA-39, MEGA-49, MEGA-69, MEGA-70, MEGA-72: whatever the scheduler does with its
// requests, each is answered what it is answered alone.
func TestEveryAnswerIsThatOfItsRequestAlone(t *testing.T) {
	for name, p := range plays() {
		for _, hybrid := range []bool{false, true} {
			p.hybrid, p.requests = hybrid, 14
			kind := map[bool]string{false: "attention, ", true: "hybrid, "}[hybrid]
			t.Run(kind+name, func(t *testing.T) {
				t.Parallel()
				var all theater
				for seed := range uint64(2) {
					one, err := p.run(t, seed)
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					all.add(one)
				}
				if p.wantTheater != nil && !p.wantTheater(all) {
					t.Errorf("it proves nothing: %+v", all)
				}
			})
		}
	}
}

func (x *theater) add(y theater) {
	x.stats.CachedTokens += y.stats.CachedTokens
	x.stats.Preemptions += y.stats.Preemptions
	x.stats.Restores += y.stats.Restores
	x.accepted += y.accepted
	x.rejected += y.rejected
	x.aborted += y.aborted
	x.chunked += y.chunked
}

// MEGA-30, MEGA-35: the oracle is proven by what it must catch: one chain root for all adapters, and blocks that are
// not the sequence's own.
func TestTheOracleCatchesPoisonedAndWrongBlocks(t *testing.T) {
	shared := func(string) uint64 { return 42 }
	for _, bug := range []struct {
		name  string
		spoil func(*core.Batch)
		root  func(string) uint64
	}{
		{"the adapter is not in the root", nil, shared},
		{"two blocks of a table are exchanged", swapBlocks, nil},
		{"a block is the neighbour's", foreignBlock, nil},
		{"a table is one block behind", repeatBlock, nil},
	} {
		for _, hybrid := range []bool{false, true} {
			p := play{core: roomy(), adapters: []string{"gdb-v2", "asan"}, requests: 16, hybrid: hybrid, root: bug.root,
				spoil: bug.spoil}
			caught := 0
			for seed := range uint64(2) {
				if _, err := p.run(t, seed); errors.Is(err, errWrong) {
					caught++
				}
			}
			if caught < 2 {
				t.Errorf("%s (hybrid %t): caught with %d of 2 seeds", bug.name, hybrid, caught)
			}
		}
	}
}

// A client may leave while its step is out, and the step be settled before the scheduler hears of it: what is shared
// from then on must have been computed.
func TestASequenceWithoutAClientIsComputedAllTheSame(t *testing.T) {
	e, err := New(Config{Text: TextTiny, Step: -1, PrefillTPS: 1e9, AdapterSwap: -1})
	if err != nil {
		t.Fatal(err)
	}
	prompt := []uint32{1, 2, 3, 4, 5}
	rs, err := newStepper(e.cfg, e.sequences).Step(t.Context(), core.Batch{Items: []core.Item{
		{ID: 9, Tokens: prompt, Samples: true, Table: []kvpool.BlockID{3}},
	}})
	if want, _ := tinyWeights(e.cfg).Answer("", prompt, 1); err != nil || !slices.Equal(rs[0].Tokens, want) {
		t.Errorf("%v, %v, not %d", rs, err, want)
	}
}

// table returns a copy of it's table to spoil.
func table(it *core.Item) []kvpool.BlockID {
	it.Table = append([]kvpool.BlockID(nil), it.Table...)
	return it.Table
}

func swapBlocks(b *core.Batch) {
	for i := range b.Items {
		if it := &b.Items[i]; it.Mode != core.Prefill && it.Start > 12 {
			own := table(it)
			own[0], own[1] = own[1], own[0]
		}
	}
}

func foreignBlock(b *core.Batch) {
	for i := range b.Items {
		if it := &b.Items[i]; it.Mode != core.Prefill && it.Start > 12 {
			table(it)[2] = (it.Table[2] + 1) % 400
		}
	}
}

func repeatBlock(b *core.Batch) {
	for i := range b.Items {
		if it := &b.Items[i]; it.Mode != core.Prefill && it.Start > 12 {
			own := table(it)
			own[1] = own[0]
		}
	}
}
