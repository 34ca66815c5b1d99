package sim

import (
	"time"

	"octet/scheduler/core"
	"octet/scheduler/gate"
)

// cost is that of every plan: a step of a dozen sequences takes about 10 ms.
var cost = Cost{Step: 5 * time.Millisecond, Prefill: 30 * time.Microsecond, Decode: 400 * time.Microsecond}

// base is a load that the engine can serve, of everything a little.
var base = Shape{
	Gap: 11 * time.Millisecond, Burst: 1, Prompt: 12, PromptMost: 400, Prefixes: 6, PrefixLen: 70, Shared: 0.5,
	Answer:   40,
	Adapters: 1, Tenants: 3, Priorities: 1, Cancelled: 0.05, Patience: 2 * time.Second, Deadlines: 0.3,
	Slack: 8 * time.Second,
}

var small = core.Config{Blocks: 96, BlockSize: 16, MaxRunning: 12, MaxWaiting: 64, TokenBudget: 128,
	ChunkTokens: 64, Seed: 7}

// CorePlans are the loads under which a Core is simulated, of so many requests each.
func CorePlans(requests int) []CorePlan {
	plans := []CorePlan{
		calm(), bursty(), adapters(), pressure(), speculative(), failing(), outranking(),
		growing(), windows(), hybrids(), copying(), mixed(), aging(), sharing(), hoarding(),
	}
	for i := range plans {
		plans[i].Load.Requests, plans[i].Cost, plans[i].CheckEvery = requests, cost, 97
	}
	return plans
}

func calm() CorePlan { return CorePlan{Name: "calm", Core: small, Load: base} }

func bursty() CorePlan {
	p := CorePlan{Name: "bursty", Core: small, Load: base}
	p.Load.Burst, p.Load.Gap, p.Load.Priorities = 40, 700*time.Millisecond, 3
	return p
}

func adapters() CorePlan {
	p := CorePlan{Name: "adapters", Core: small, Load: base}
	p.Load.Adapters, p.Load.Gap, p.Load.Burst = 6, 55*time.Millisecond, 2
	return p
}

func pressure() CorePlan {
	p := CorePlan{Name: "pressure", Core: small, Load: base}
	p.Core.Blocks, p.Load.Priorities, p.Load.Gap, p.Load.Adapters, p.Load.Answer = 30, 4, 70*time.Millisecond, 2, 120
	return p
}

func speculative() CorePlan {
	p := CorePlan{Name: "speculative", Core: small, Load: base}
	p.Core.Blocks, p.Core.BlockSize, p.Load.Draft, p.Load.Priorities = 160, 5, 4, 2
	return p
}

func failing() CorePlan {
	p := CorePlan{Name: "failing", Core: small, Load: base}
	p.Load.Failures, p.Load.Cancelled, p.Load.Draft, p.Load.Adapters, p.Load.Gap = 0.2, 0.4, 3, 3, 17*time.Millisecond
	return p
}

// outranking is the one whose preemptions are judged to the request: one adapter, prompts in one step, and the blocks
// of the start last to the end.
func outranking() CorePlan {
	p := CorePlan{Name: "outranking", Core: small, Load: base}
	p.Core.Blocks = 48
	p.seen()
	p.Load.Aligned, p.Load.Answer, p.Load.Priorities, p.Load.Gap = 16, 14, 5, 7*time.Millisecond
	return p
}

// gateCost stretches time, so that the shortest wait is seconds: a step of a dozen sequences takes 200 ms.
var gateCost = Cost{Step: 100 * time.Millisecond, Prefill: 600 * time.Microsecond, Decode: 8 * time.Millisecond}

var gateBase = Shape{
	Gap: 310 * time.Millisecond, Burst: 1, Prompt: 12, PromptMost: 400, Prefixes: 6, PrefixLen: 70, Shared: 0.5,
	Answer: 40, Whole: true,
	Adapters: 1, Tenants: 1, Priorities: 1, Deadlines: 0.7, Slack: 28 * time.Second,
}

// gateSmall has more blocks than its places can need, so that time alone decides.
var gateSmall = gate.Config{Blocks: 600, BlockSize: 16, MaxRunning: 12, MaxWaiting: 200,
	MaxWait: 60 * time.Second}

// exactly names the load whose promises must all be kept: what the Gate measured is what happens.
const exactly = "exact"

// GatePlans are the loads under which a Gate is simulated, of so many requests each.
func GatePlans(requests int) []GatePlan {
	exact := GatePlan{Name: exactly, Gate: gateSmall, Load: gateBase, Cost: gateCost}
	urgent := exact
	urgent.Name, urgent.Load.Priorities, urgent.Load.Burst, urgent.Load.Gap = "exact, 3 priorities", 3, 3,
		3*exact.Load.Gap
	noisy := exact
	noisy.Name, noisy.Cost.Noise = "noise of 20 %", 0.2
	batching := exact
	batching.Name, batching.Batching = "batching", true
	shaken := batching
	shaken.Name, shaken.Cost.Noise = "batching, noise of 20 %", 0.2
	crowded := batching
	crowded.Name, crowded.Gate.Blocks, crowded.Load.Priorities, crowded.Load.Deadlines = "few blocks", 60, 3, 0.3
	crowded.Load.Cancelled, crowded.Load.Patience, crowded.Load.Tenants = 0.1, 10*time.Second, 3
	shared := crowded
	shared.Name, shared.Gate.Aging, shared.Gate.AgingCeiling = "shares and age", 5*time.Second, 2
	shared.Gate.Weights = func(tenant string) int { return 1 + len(tenant)%3 }
	sparing := shared
	sparing.Name, sparing.Gate.Redo = "work done again is bounded", 0.03
	prompt := batching // prompts are prefilled one after the other, and the first token is what is promised
	prompt.Name, prompt.First, prompt.Load.PromptMost, prompt.Load.Prompt, prompt.Load.Slack = "first tokens", true,
		1600, 60, 8*time.Second
	prompt.Load.Answer, prompt.Load.Burst, prompt.Load.Gap = 20, 2, 1200*time.Millisecond
	hurried := prompt
	hurried.Name, hurried.Cost.Noise = "first tokens, noise of 20 %", 0.2
	plans := []GatePlan{exact, urgent, noisy, batching, shaken, crowded, shared, sparing, prompt, hurried}
	for i := range plans {
		plans[i].Load.Requests, plans[i].Warm, plans[i].CheckEvery = requests, 100, 97
	}
	return plans
}
