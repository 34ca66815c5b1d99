package sim

import (
	"time"
)

// seen gives steps the tokens for every running request, whatever it computes, so that a batch shows which do.
func (p *CorePlan) seen() {
	p.Core.TokenBudget, p.Core.ChunkTokens, p.Seen = 8192, 8192, true
}

// growing has answers that outgrow the pool: most preemptions are for the next block of one that runs.
func growing() CorePlan {
	p := CorePlan{Name: "growing", Core: small, Load: base}
	p.seen()
	p.Core.Blocks, p.Load.Answer, p.Load.Priorities, p.Load.Gap, p.Load.Failures = 40, 200, 3, 110*time.Millisecond,
		0.03
	return p
}

// windows drafts more than there are blocks for, in front of a queue of all priorities: windows do not fit, or what
// they take is given back, and a request that has started is soon wanted for another.
func windows() CorePlan {
	p := CorePlan{Name: "windows", Core: small, Load: base}
	p.seen()
	p.Core.Blocks, p.Core.BlockSize, p.Load.Draft, p.Load.Priorities, p.Load.Answer, p.Load.PromptMost = 64, 4, 12, 8,
		60, 120
	p.Load.Gap, p.Load.Failures, p.Load.Cancelled, p.Load.Hybrids = 9*time.Millisecond, 0.05, 0.2, 0.4
	p.Core.SSMStateBytes, p.Core.HostBytes, p.Core.Watermark = 1000, 100_000, -1
	p.Core.Aging, p.Core.AgingCeiling = 300*time.Millisecond, 3
	return p
}

// hybrids has sequences with recurrent state beside others, and host memory for a few of them: 1 ms of prefill is 33
// tokens, or 16 KB out and back.
func hybrids() CorePlan {
	p := CorePlan{Name: "hybrids", Core: small, Load: base}
	p.Core.SSMStateBytes, p.Core.KVTokenBytes, p.Core.HostBytes, p.Core.LinkBandwidth = 30_000, 100, 90_000, 32_000_000
	p.Core.Blocks, p.Load.Hybrids, p.Load.Priorities, p.Load.Answer, p.Load.Adapters = 36, 0.6, 4, 120, 2
	p.Load.Gap, p.Load.Patience = 60*time.Millisecond, 500*time.Millisecond
	return p
}

// copying is hybrids that always copy, on an engine whose steps fail, with drafts, and clients that give up.
func copying() CorePlan {
	p := hybrids()
	p.Name = "copying"
	p.Core.LinkBandwidth, p.Core.HostBytes, p.Core.Blocks, p.Core.BlockSize = 1e9, 300_000, 60, 7
	p.Load.Failures, p.Load.Draft, p.Load.Cancelled, p.Load.Hybrids, p.Load.Adapters = 0.15, 3, 0.5, 0.8, 1
	return p
}

// mixed has batches of any adapters.
func mixed() CorePlan {
	p := adapters()
	p.Name = "mixed"
	p.seen()
	p.Core.CrossAdapter, p.Load.Gap, p.Load.Priorities, p.Core.Blocks, p.Load.Hybrids = true, 22*time.Millisecond, 3,
		48, 0.2
	p.Core.SSMStateBytes = 1000 // and no host memory: they are computed again
	return p
}

// aging has more urgent requests than the engine can serve: without aging the others would starve.
func aging() CorePlan {
	p := CorePlan{Name: "aging", Core: small, Load: base}
	p.seen()
	p.Core.Aging, p.Core.AgingCeiling, p.Core.MaxWaiting = 700*time.Millisecond, 3, 200
	p.Load.Priorities, p.Load.Gap, p.Load.Burst, p.Load.Failures = 5, 23*time.Millisecond, 3, 0.02
	return p
}

// weights are of the tenants that share.
var weights = map[string]int{"acme": 1, "birch": 2, "cobalt": 4, "dune": 1}

// sharing has four tenants that all ask for more than their shares.
func sharing() CorePlan {
	p := CorePlan{Name: "sharing", Core: small, Load: base}
	p.seen()
	p.Core.Weights, p.Core.MaxWaiting = func(tenant string) int { return weights[tenant] }, 120
	p.Load.Tenants, p.Load.Gap, p.Load.Burst, p.Load.Cancelled = len(weights), 40*time.Millisecond, 8, 0.2
	return p
}

// hoarding has prompts that fill the queue's bytes long before its places.
func hoarding() CorePlan {
	p := CorePlan{Name: "hoarding", Core: small, Load: base}
	p.seen()
	p.Core.MaxWaitingBytes, p.Core.MaxWaiting, p.Load.Priorities, p.Load.Cancelled = 6000, 1000, 2, 0.3
	p.Load.Burst, p.Load.Gap = 30, 500*time.Millisecond
	return p
}
