package gate_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"octet/internal/sim"
	"octet/scheduler/gate"
)

// anyGate draws sizes and loads for a Gate. Waits are seconds at least, so that no timer of the wall clock ever rings.
func anyGate(t *rapid.T) sim.GatePlan {
	p := sim.GatePlan{Name: "any", CheckEvery: 3, Warm: rapid.IntRange(0, 50).Draw(t, "warm"),
		Batching: rapid.Bool().Draw(t, "batching")}
	p.Gate = gate.Config{
		Blocks:     rapid.SampledFrom([]int{0, 12, 30, 200}).Draw(t, "blocks"),
		BlockSize:  rapid.IntRange(2, 9).Draw(t, "block size"),
		MaxRunning: rapid.IntRange(1, 8).Draw(t, "running"), MaxWaiting: rapid.IntRange(0, 30).Draw(t, "waiting"),
		MaxWait: 40 * time.Second,
	}
	if p.Gate.Blocks == 0 {
		p.Gate.BlockSize = 0
	}
	p.Cost = sim.Cost{Step: 100 * time.Millisecond, Prefill: time.Millisecond, Decode: 10 * time.Millisecond,
		Noise: 0.2}
	p.Load = sim.Shape{
		Requests: 80, Gap: time.Duration(rapid.IntRange(50, 4000).Draw(t, "gap ms")) * time.Millisecond,
		Burst:  rapid.IntRange(1, 10).Draw(t, "burst"),
		Prompt: rapid.IntRange(1, 8).Draw(t, "prompt"), PromptMost: 60, Prefixes: 3, PrefixLen: 20, Shared: 0.5,
		Answer: rapid.IntRange(1, 30).Draw(t, "answer"), Adapters: 2, Tenants: rapid.IntRange(1, 4).Draw(t, "tenants"),
		Priorities: rapid.IntRange(1, 4).Draw(t, "priorities"), Cancelled: 0.2, Patience: 10 * time.Second,
		Deadlines: rapid.SampledFrom([]float64{0, 0.4}).Draw(t, "deadlines"), Slack: 60 * time.Second,
	}
	return p
}

// MEGA-22, MEGA-24, MEGA-25, MEGA-43: what package sim checks of a Gate, at any size and load.
func TestProofGateOfAnySizeKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := anyGate(t)
		out, err := sim.RunGate(&plan, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatalf("after %d steps: %v", out.Steps, err)
		}
	})
}
