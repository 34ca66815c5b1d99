package core

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"octet/kvpool"
	"octet/scheduler"
)

// watched is an engine that tells when it is asked for a step, and holds it until it is let go on.
type watched struct {
	*paged
	asked chan uint64
	let   chan struct{}
}

func (e *watched) Step(ctx context.Context, b Batch) ([]Result, error) {
	e.asked <- b.Step
	<-e.let
	return e.paged.Step(ctx, b)
}

// MEGA-71: a step goes assemble, block view, adapter, forward, sample, commit, once each. While the engine computes,
// nothing of the step is to be seen by its clients, in the cache or in the telemetry; then all of it is. What is said
// is what each prompt, adapter and policy give alone, computed without blocks or batches: a step that read by another's
// table, weights or policy would say something else. All modes go this one way.
func TestStepGoesFromAssembleToCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &watched{paged: newPaged(40, 4), asked: make(chan uint64), let: make(chan struct{})}
		var published int
		var reports []Report
		begun := time.Now()
		l, err := NewLoop(LoopConfig{Core: Config{Blocks: 40, BlockSize: 4, MaxRunning: 8, MaxWaiting: 8,
			TokenBudget: 40},
			Now:     func() scheduler.Time { return time.Since(begun) },
			Publish: func(events []BlockEvent) { published += len(events) },
			Stepped: func(r Report) { reports = append(reports, r) }}, e)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = l.Run(ctx) }() // its error is ctx's
		requests := []Request{{ID: 1, Adapter: "red", Draft: 2}, {ID: 2, Adapter: "red"}, {ID: 3, Adapter: "blue"},
			{ID: 4, Policy: Policy{Temperature: 1, Seed: 1}}, {ID: 5, Policy: Policy{Temperature: 1, Seed: 2}}, {ID: 6}}
		said := make([][]uint32, len(requests))
		for i := range requests {
			r := &requests[i]
			r.MaxNew, r.Tokens, r.Root = 9, []uint32{7, 2, 3, 4, 5}, kvpool.BlockHash(seed(r.Adapter))
			s := submit(t, l, *r)
			go func() { said[i], _ = listen(s) }() // the tokens tell
		}
		for l.Stats().Running+l.Stats().Waiting > 0 {
			synctest.Wait()
			before, events := len(reports), published
			step := <-e.asked
			time.Sleep(time.Second) // the engine computes
			synctest.Wait()
			if len(reports) != before || published != events {
				t.Fatalf("step %d is told of while it is out", step)
			}
			e.let <- struct{}{}
			synctest.Wait()
			if len(reports) != before+1 || reports[before].Step != step || reports[before].Took != time.Second {
				t.Fatalf("step %d is reported by %+v", step, reports[before:])
			}
			if step == 1 && published == 0 {
				t.Error("the prompts are not in the cache after their step")
			}
		}
		synctest.Wait()
		sampled, adapters := 0, map[string]bool{}
		for _, r := range reports {
			sampled += r.Sampled
			adapters[r.Adapter] = true
		}
		total := 0
		for i, r := range requests {
			total += len(said[i])
			if want := alone(r); !slices.Equal(said[i], want) {
				t.Errorf("%d says %v, alone it would say %v", r.ID, said[i], want)
			}
		}
		if slices.Equal(said[3], said[4]) || slices.Equal(said[3], said[5]) || sampled < total || len(adapters) != 3 {
			t.Errorf("%v by two seeds and none, %d of %d tokens reported, of %v", said, sampled, total, adapters)
		}
	})
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
