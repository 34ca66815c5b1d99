package plugins

import (
	"time"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// prebleE2 scores by the rule of Preble's scheduler E2, exploit or explore. Costs are in seconds of a replica's work.
//
//	exploit  where more of the prompt is cached than is to be computed: the replica that holds most of it, of several
//	         the one with the least load. If that load exceeds imbalance × what the lightest would have with the
//	         request, the lightest takes it: its copy of the prefix is the second one
//	explore  else: the least sum of load, eviction and own
//	load     = prefill and decode of what was sent there within the window
//	eviction = prefill of what gives way to the request's uncached blocks, × the share of prompt tokens that were
//	           cached there within the window: how much of it is likely to be computed again
//	own      = the request's uncached tokens / prefill rate
type prebleE2 struct {
	named
	sent      *sentWork
	imbalance float64
	rate      float64 // tokens a second, where none is measured
	answer    float64 // tokens
}

// newPrebleE2: window_s (default 180) is the time over which sent work is load; imbalance (default 2) is how many times
// the lightest load makes a replica too heavy to exploit; answer_tokens (default 200) is the length of an answer;
// assumed_rate (default 8000) is the prompt tokens a second of a replica without a measurement, where no other
// candidate has one either.
func newPrebleE2(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		window := p.Float("window_s", 180, 1, 86400)
		return &prebleE2{
			named:     named{"preble-e2", reads(Fleet, PromptTokens, Depths)},
			sent:      newSentWork(time.Duration(window * float64(time.Second))),
			imbalance: p.Float("imbalance", 2, 1, 1e6), rate: p.Float("assumed_rate", 8000, 1, 1e9),
			answer: p.Float("answer_tokens", 200, 0, 1e6),
		}
	}
}

// candidate is a replica as E2 sees it.
type candidate struct {
	load, eviction, own float64 // seconds
	depth               uint16  // blocks of the prompt that it holds
}

// Score implements routing.Scorer. What is exploited scores over a half, what is explored up to a half.
func (s *prebleE2) Score(v routing.View, hosts []index.HostID, out []float64) {
	var all [index.MaxHosts]candidate
	candidates := all[:len(hosts)]
	s.weigh(v, hosts, candidates)
	for i, c := range candidates {
		out[i] = 0.5 / (1 + c.load + c.eviction + c.own)
	}
	most := uint16(0)
	for _, c := range candidates {
		most = max(most, c.depth)
	}
	if cached := int(most) * Fleet.Get(v).BlockSize(); 2*cached <= PromptTokens.Get(v) {
		return
	}
	for i, c := range candidates {
		if c.depth == most {
			out[i] = 0.5 + 0.25/(1+c.load)
		}
	}
	if lightest := s.relief(candidates, most); lightest >= 0 {
		out[lightest] = 1
	}
}

// weigh fills in the candidates.
func (s *prebleE2) weigh(v routing.View, hosts []index.HostID, candidates []candidate) {
	replicas, now, depths := Fleet.Get(v), v.Facts().Now, Depths.Get(v)
	typical := typicalRate(v, hosts, s.rate)
	s.sent.mu.Lock()
	defer s.sent.mu.Unlock()
	for i, h := range hosts {
		r, p := replicas.Replica(h), prefillAt(v, h, typical)
		sent, filled := s.sent.at(r, now)
		candidates[i] = candidate{load: sent.seconds, own: p.own / p.rate}
		candidates[i].eviction = evicted(r.Spec(), filled, p.own) / p.rate * sent.hits()
		if depths != nil {
			candidates[i].depth = depths[h]
		}
	}
}

// evicted returns how many tokens give way to own new ones in a pool of which filled blocks are filled; 0 where the
// pool's size is unknown.
func evicted(spec *fleet.Spec, filled, own float64) float64 {
	if spec.Blocks == 0 {
		return 0
	}
	size := float64(max(spec.BlockSize, 1))
	return max(0, (filled-float64(spec.Blocks))*size+own)
}

// relief returns the lightest candidate if the lightest of those that hold most of the prompt is too heavy beside it;
// else -1.
func (s *prebleE2) relief(candidates []candidate, most uint16) int {
	holder, lightest := -1, 0
	for i, c := range candidates {
		if c.depth == most && (holder < 0 || c.load < candidates[holder].load) {
			holder = i
		}
		if c.load < candidates[lightest].load {
			lightest = i
		}
	}
	light := candidates[lightest]
	if candidates[holder].load > s.imbalance*(light.load+light.own) {
		return lightest
	}
	return -1
}

// Learn implements routing.Learner.
func (s *prebleE2) Learn(v routing.View, picked index.HostID) {
	r := Fleet.Get(v).Replica(picked)
	p := prefillAt(v, picked, typicalRate(v, []index.HostID{picked}, s.rate))
	tokens := float64(PromptTokens.Get(v))
	s.sent.note(r, v.Facts().Now, sentLoad{
		seconds: p.own/p.rate + s.answer*r.Pace().ITL, prompt: tokens, cached: tokens - p.own,
	})
}
