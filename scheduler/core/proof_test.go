package core_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"octet/internal/sim"
	"octet/scheduler/core"
)

// anyCore draws sizes and loads that the fixed simulations do not have: tiny pools, blocks of one token, chunks that
// never align, more adapters than places, engines that mostly fail.
func anyCore(t *rapid.T) sim.CorePlan {
	running := rapid.IntRange(1, 9).Draw(t, "running")
	p := sim.CorePlan{Name: "any", CheckEvery: 7, Core: core.Config{
		Blocks: rapid.IntRange(8, 60).Draw(t, "blocks"), BlockSize: rapid.IntRange(1, 9).Draw(t, "block size"),
		MaxRunning: running, MaxWaiting: rapid.IntRange(0, 30).Draw(t, "waiting"),
		TokenBudget: running + rapid.IntRange(0, 40).Draw(t, "budget"), Seed: 5,
	}}
	p.Core.ChunkTokens = rapid.IntRange(0, p.Core.TokenBudget).Draw(t, "chunk")
	if rapid.Bool().Draw(t, "seen") { // tokens for every request, so that all is judged to the request
		p.Seen, p.Core.TokenBudget, p.Core.ChunkTokens = true, 2000, 0
	}
	p.Core.Watermark = rapid.SampledFrom([]float64{-1, 0, 0.1, 0.4}).Draw(t, "watermark")
	p.Core.CrossAdapter = rapid.Bool().Draw(t, "cross")
	p.Core.Weights = func(tenant string) int { return len(tenant) }
	p.Core.Aging, p.Core.AgingCeiling = time.Duration(rapid.IntRange(0, 3).Draw(t, "aging"))*40*time.Millisecond,
		rapid.IntRange(-1, 3).Draw(t, "ceiling")
	p.Core.MaxWaitingBytes = rapid.SampledFrom([]int64{0, 500, 5000}).Draw(t, "bytes")
	p.Core.SSMStateBytes, p.Core.KVTokenBytes = rapid.SampledFrom([]int64{1, 400, 3000}).Draw(t, "state"),
		rapid.SampledFrom([]int64{0, 30}).Draw(t, "kv")
	p.Core.HostBytes, p.Core.LinkBandwidth = rapid.SampledFrom([]int64{0, 3000, 100_000}).Draw(t, "host"),
		rapid.SampledFrom([]float64{0, 1e6}).Draw(t, "link")
	p.Cost = sim.Cost{Step: time.Millisecond, Prefill: 50 * time.Microsecond, Decode: 100 * time.Microsecond,
		Noise: 0.2}
	p.Load = sim.Shape{
		Requests: 60, Gap: time.Duration(rapid.IntRange(1, 40).Draw(t, "gap ms")) * time.Millisecond,
		Burst:  rapid.IntRange(1, 12).Draw(t, "burst"),
		Prompt: rapid.IntRange(1, 8).Draw(t, "prompt"), PromptMost: 60, Prefixes: 3,
		PrefixLen: rapid.IntRange(1, 30).Draw(t, "prefix"),
		Shared:    0.6, Answer: rapid.IntRange(1, 20).Draw(t, "answer"),
		Adapters: rapid.IntRange(1, 5).Draw(t, "adapters"), Tenants: rapid.IntRange(1, 4).Draw(t, "tenants"),
		Priorities: rapid.IntRange(1, 4).Draw(t, "priorities"), Draft: rapid.IntRange(0, 4).Draw(t, "draft"),
		Cancelled: 0.2, Patience: 50 * time.Millisecond, Deadlines: 0.2, Slack: 400 * time.Millisecond,
		Hybrids:  rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "hybrids"),
		Failures: rapid.SampledFrom([]float64{0, 0.1, 0.7}).Draw(t, "failures"),
	}
	if p.Seen && !p.Core.CrossAdapter {
		p.Load.Adapters = 1
	}
	return p
}

// MEGA-22, MEGA-24, MEGA-25, MEGA-26, MEGA-28, MEGA-35, MEGA-48, MEGA-49: what package sim checks, at any size and
// load.
func TestProofCoreOfAnySizeKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := anyCore(t)
		out, err := sim.RunCore(&plan, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatalf("after %d steps: %v", out.Steps, err)
		}
	})
}

// The decisions depend on the calls alone.
func TestProofSameCallsSameTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, seed := anyCore(t), rapid.Uint64().Draw(t, "seed")
		first, err := sim.RunCore(&plan, seed)
		again, twice := sim.RunCore(&plan, seed)
		if first.Trace != again.Trace || err != nil || twice != nil {
			t.Fatalf("%#x, then %#x (%v, %v)", first.Trace, again.Trace, err, twice)
		}
	})
}
