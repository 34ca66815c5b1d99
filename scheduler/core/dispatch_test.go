package core

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"octet/kvpool"
)

// stages is an engine that notes what it does in which order, around one that computes.
type stages struct {
	*paged
	log []string
}

func (e *stages) note(format string, args ...any) {
	e.log = append(e.log, fmt.Sprintf(format, args...))
}

// Step is the dispatch step: block view, adapter, forward, sample with each request's policy.
func (e *stages) Step(ctx context.Context, b Batch) ([]Result, error) {
	e.note("assembled %d", b.Step)
	var view [][]kvpool.BlockID
	for _, it := range b.Items {
		view = append(view, it.Table)
	}
	e.note("view of %d tables", len(view))
	e.note("adapter %q", b.Adapter)
	for _, it := range b.Items {
		e.note("forward %v of %d at %d", it.Mode, it.ID, it.Start)
	}
	rs, err := e.paged.Step(ctx, b)
	for _, r := range rs {
		e.note("sample %d tokens of %d", len(r.Tokens), r.ID)
	}
	return rs, err
}

// MEGA-71: a step goes assemble, block view, adapter, forward, sample, commit, once each; nothing of a step is visible
// before its commit, and all modes go this one way.
func TestStepGoesFromAssembleToCommit(t *testing.T) {
	c := mustCore(t, Config{Blocks: 20, BlockSize: 4, MaxRunning: 4, MaxWaiting: 4, TokenBudget: 40})
	e := &stages{paged: newPaged(20, 4)}
	for _, r := range []Request{{ID: 1, MaxNew: 9, Draft: 2}, {ID: 2, MaxNew: 9}} {
		r.Adapter, r.Tokens = "red", []uint32{uint32(r.ID), 2, 3, 4, 5}
		if _, err := c.Add(r, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		b := c.Assemble(0)
		rs, err := e.Step(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(c.TakeEvents()); n != 0 {
			t.Errorf("%d events before the commit of step %d", n, b.Step)
		}
		for _, o := range c.Commit(b, rs, 0) {
			e.note("commit %d of %d", o.Index, o.ID)
		}
		if n := len(c.TakeEvents()); n == 0 && b.Step == 1 {
			t.Error("no events after the commit of the prefill")
		}
	}
	want := []string{
		"assembled 1", "view of 2 tables", `adapter "red"`, "forward prefill of 1 at 0", "forward prefill of 2 at 0",
		"sample 1 tokens of 1", "sample 1 tokens of 2", "commit 0 of 1", "commit 0 of 2",
		"assembled 2", "view of 2 tables", `adapter "red"`, "forward spec_verify of 1 at 5", "forward decode of 2 at 5",
	}
	if len(e.log) < len(want) || !slices.Equal(e.log[:len(want)], want) {
		t.Errorf("%q", e.log)
	}
}

// BenchmarkPrefixLookup is what it costs to find a cached prompt of 4,096 tokens, hashing included, against computing
// it anew at 10,000 tokens a second (MEGA-37). The ratio is the figure.
func BenchmarkPrefixLookup(b *testing.B) {
	const n, rate = 4096, 10_000.0
	pool, err := kvpool.NewPool(n/16+1, 16)
	if err != nil {
		b.Fatal(err)
	}
	prompt := make([]uint32, n)
	for i := range prompt {
		prompt[i] = uint32(i)
	}
	hasher := kvpool.NewHasher(1)
	chain := hasher.Chain(nil, 7, prompt, 16)
	var table kvpool.Table
	pool.Extend(&table, n/16)
	for i, h := range chain {
		pool.Seal(&table, i, h)
	}
	b.ReportAllocs()
	for b.Loop() {
		chain = hasher.Chain(chain[:0], 7, prompt, 16)
		if pool.Match(chain) != n/16 {
			b.Fatal("miss")
		}
	}
	lookup := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(lookup/n, "ns/token")
	b.ReportMetric(n/rate*1e9/lookup, "prefills/lookup")
}

// MEGA-37: finding a prefix is less work than computing it: no token more than a miss, and, hashing included, not a
// hundredth of the time that the cost model puts down to what it saves.
func TestFindingAPrefixSavesItsComputation(t *testing.T) {
	c := mustCore(t, Config{Blocks: 600, BlockSize: 16, MaxRunning: 2, MaxWaiting: 4, TokenBudget: 5000})
	computed := func(id uint64) (tokens int) {
		r := asking(9, 4096, 1)
		r.ID = id
		if _, err := c.Add(r, 0); err != nil {
			t.Fatal(err)
		}
		b := c.Assemble(0)
		tokens = len(b.Items[0].Tokens)
		c.Commit(b, []Result{{ID: id, Tokens: []uint32{1}}}, 0)
		return tokens
	}
	if first, again := computed(1), computed(2); first != 4096 || again != 16 {
		t.Errorf("computed %d tokens, and %d with all but the last block cached", first, again)
	}
	r, took := asking(9, 4096, 1), time.Hour // the best of a few looks: others want the processor too
	for range 9 {
		began := time.Now()
		if found := c.pool.Match(c.hasher.Chain(nil, r.Root, r.Tokens, 16)); found < 255 {
			t.Fatalf("%d blocks found", found)
		}
		took = min(took, time.Since(began))
	}
	if model := (timing{}); took*100 > model.compute(255*16) {
		t.Errorf("finding it took %v, computing it would take %v", took, model.compute(255*16))
	}
}
