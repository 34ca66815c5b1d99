package plugins

import (
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// dynamoCost scores Dynamo's cost, in blocks: lowest 1, highest 0, all 1 when equal.
//
//	cost     = overlap_score_weight × prefill + decode + active_request_weight × requests in flight
//	prefill  = blocks to compute before the first token: of requests there already, and the prompt's, less credits
//	decode   = blocks of all sequences there, and of the prompt
//	credits  = blocks of the prompt that are held, × overlap_credit in the GPU, host_credit in the CPU's memory,
//	           disk_credit on disk, / (1 + overlap_decay × excess / blocks of the prompt)
//	excess   = blocks to compute there already, beyond those at the least busy candidate
type dynamoCost struct {
	named
	dynamoTerms
}

type dynamoTerms struct {
	prefill    float64 // weight
	credit     float64
	host, disk float64 // credits
	decay      float64
	requests   float64 // weight
	backlog    bool    // count what others have to compute there
}

// newDynamoCost: overlap_score_weight (default 1) weighs blocks to compute against blocks to hold; overlap_credit
// (default 1) is what a held block is worth in blocks to compute; host_credit (default 0.75 of overlap_credit) and
// disk_credit (default 0.25 of it) are the same in slower tiers, by tier-depths: without tier-depths in the profile all
// tiers are alike; overlap_decay (default 0) devalues all where there is a backlog; active_request_weight (default 0)
// is what a request in flight costs, in blocks; track_prefill (default true) counts what requests already routed there
// have to compute.
func newDynamoCost(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		credit := p.Float("overlap_credit", 1, 0, 1e6)
		s := dynamoCost{
			named{"dynamo-cost", reads(Fleet, Loads, BlockHashes, PromptTokens, Depths)},
			dynamoTerms{
				prefill: p.Float("overlap_score_weight", 1, 0, 1e6), credit: credit,
				host:  p.Float("host_credit", cpuWorth*credit, 0, 1e6),
				disk:  p.Float("disk_credit", ssdWorth*credit, 0, 1e6),
				decay: p.Float("overlap_decay", 0, 0, 1e6), requests: p.Float("active_request_weight", 0, 0, 1e6),
				backlog: p.Bool("track_prefill", true),
			},
		}
		s.named.readTiers(p.Given("host_credit") && s.host != credit || p.Given("disk_credit") && s.disk != credit)
		return s
	}
}

// worker is one replica as the cost sees it.
type worker struct {
	prompt   float64 // blocks
	held     float64 // blocks of the prompt; over prompt where the last block is held and not full
	cpu, ssd float64 // of held, those in slower tiers
	backlog  float64 // blocks to compute there already
	excess   float64 // of backlog, beyond the least busy candidate's
	decode   float64 // blocks
	requests float64
}

func (t dynamoTerms) cost(w worker) float64 {
	cost := w.decode + t.requests*w.requests
	credit := t.credit*(w.held-w.cpu-w.ssd) + t.host*w.cpu + t.disk*w.ssd
	if t.decay > 0 && w.prompt > 0 {
		credit /= 1 + t.decay*w.excess/w.prompt
	}
	raw := max(w.prompt, w.held) // what is held beyond the prompt is paid for as it is credited
	if t.backlog {
		return cost + t.prefill*max(0, w.backlog+raw-credit)
	}
	return cost + t.prefill*max(0, raw-credit)
}

// Score implements routing.Scorer.
func (s dynamoCost) Score(v routing.View, hosts []index.HostID, out []float64) {
	size := float64(max(1, Fleet.Get(v).BlockSize()))
	loads, depths := Loads.Get(v), Depths.Get(v)
	least := loads[hosts[0]].Backlog
	for _, h := range hosts {
		least = min(least, loads[h].Backlog)
	}
	tiers := TierDepths.Get(v)
	for i, h := range hosts {
		w := workerOf(loads[h], float64(PromptTokens.Get(v)), size)
		w.held, w.excess = float64(depths[h]), float64(loads[h].Backlog-least)/size
		w.cpu, w.ssd = tiers.slower(h)
		out[i] = s.cost(w)
	}
	lowestFirst(out)
}

func workerOf(l fleet.Load, prompt, size float64) worker {
	return worker{
		prompt: prompt / size, backlog: float64(l.Backlog) / size,
		decode: (float64(l.Tokens) + prompt) / size, requests: float64(l.InFlight),
	}
}
