package plugins

import (
	"math"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// leastWork scores by what sending the request to a replica costs, in seconds: 1/(1+cost).
//
//	cost    = wait + price × own + in flight × (stream_weight × own + slowdown_weight × slowdown) + habit
//	wait    = the longer of backlog and memory_weight × room
//	backlog = what the replica has yet to prefill before the request, at its measured rate
//	room    = how long until the blocks are free that it and those waiting there need: see fleet.Turnover
//	own     = the request's uncached tokens at that rate: it waits for them too, and so do all requests after it. Of
//	          cached tokens in slower tiers, a part counts as uncached: the time that loading them takes
//	price   = own_weight + backlog_price × mean backlog of the candidates
//	slowdown = by how much one more request in flight lengthens another's answer, as measured: fleet.Pace
//	habit   = recent_weight × recent, over the candidate of which that is least; at most what all of the prompt takes
//	recent  = what the prompts take that were sent there lately, and at stream_weight what they slow down:
//	          fleet.Recent
//
// A second of work costs the request a second, and each request that will queue behind it another one. In an idle fleet
// there are none, so the shortest wait wins. The longer the queues are the more there are, so a crowded fleet sends a
// request where it needs the least work. Answers in flight are held up as well: they pause for its prompt and are
// slower for its tokens, which counts for less than a second before a first token. Where all that is much alike, as for
// the first request of a session, it goes where least was sent lately: the turns of a session come back to where they
// were, and find there what else comes back.
type leastWork struct {
	named
	worth
	own, price, active, stream, slow, memory, recent float64

	rate float64 // tokens a second, where none is measured
}

// newLeastWork: own_weight (default 1) and backlog_price (default 1) make the price of a second of work; stream_weight
// (default 0.15) is what a second counts for which an answer in flight pauses, slowdown_weight (default 0.04) one by
// which it takes longer, memory_weight (default 1) one of waiting for free blocks, recent_weight (default 0.1) one of
// work that was sent lately; active_seconds (default 0) is what a request in flight costs whatever is measured;
// assumed_rate (default 8000) is the prompt tokens a second of a replica without a measurement, where no other
// candidate has one either; cpu_weight (default 0.75) and ssd_weight (default 0.25) are what a block in that tier
// saves, of what one in the GPU saves: by tier-depths. Without tier-depths in the profile all tiers are alike.
func newLeastWork(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		s := &leastWork{
			named: named{"least-work", reads(Fleet, BlockHashes, PromptTokens, Depths)},
			own:   p.Float("own_weight", 1, 0, 1e6), price: p.Float("backlog_price", 1, 0, 1e6),
			active: p.Float("active_seconds", 0, 0, 1e6),
			stream: p.Float("stream_weight", 0.15, 0, 1e6), slow: p.Float("slowdown_weight", 0.04, 0, 1e6),
			memory: p.Float("memory_weight", 1, 0, 1e6), recent: p.Float("recent_weight", 0.1, 0, 1e6),
			rate: p.Float("assumed_rate", 8000, 1, 1e9),
		}
		s.worth = worthOf(p, &s.named)
		return s
	}
}

// Score implements routing.Scorer.
func (s *leastWork) Score(v routing.View, hosts []index.HostID, out []float64) {
	if len(hosts) > 8 {
		s.scoreMany(v, hosts, out)
		return
	}
	var work [8]fleet.Work // room for all would be zeroed for nothing
	s.score(v, hosts, work[:len(hosts)], out)
}

//go:noinline
func (s *leastWork) scoreMany(v routing.View, hosts []index.HostID, out []float64) {
	var work [index.MaxHosts]fleet.Work
	s.score(v, hosts, work[:len(hosts)], out)
}

// score is Score in the memory of work, one for each host.
func (s *leastWork) score(v routing.View, hosts []index.HostID, work []fleet.Work, out []float64) {
	replicas, now := Fleet.Get(v), v.Facts().Now.UnixNano()
	var rates measuredRates
	for i, h := range hosts {
		replicas.Replica(h).WorkAt(&work[i], now)
		rates.add(work[i].Rate)
	}
	typical, mean, least := rates.mean(s.rate), 0.0, math.Inf(1)
	for i := range work {
		w := &work[i]
		if w.Rate <= 0 {
			w.Rate = typical
		}
		perToken := 1 / w.Rate
		out[i] = w.Tokens * perToken
		mean += out[i]
		// from here on both are seconds: divisions are the most of what this costs
		w.Rate, w.Recent.Tokens = perToken, w.Recent.Tokens*perToken+s.stream*w.Recent.Requests*w.Slowdown
		least = min(least, w.Recent.Tokens)
	}
	mean /= float64(len(hosts))
	price := s.own + s.price*mean
	tokens, size, depths := PromptTokens.Get(v), replicas.BlockSize(), Depths.Get(v)
	tiers, need := TierDepths.Get(v), float64(tokens)/float64(size)
	for i, h := range hosts {
		// the last token is always computed
		own := float64(max(tokens-int(depths[h])*size, min(tokens, 1)))
		if tiers != nil {
			own = min(own+s.lost(tiers, h)*float64(size), float64(tokens))
		}
		r, w := replicas.Replica(h), &work[i]
		own *= w.Rate
		if s.memory > 0 && w.Life > 0 {
			out[i] = max(out[i], s.memory*w.Life*r.Turnover(need))
		}
		habit := min(s.recent*(w.Recent.Tokens-least), float64(tokens)*w.Rate)
		cost := out[i] + price*own + habit + float64(r.InFlight())*(s.active+s.stream*own+s.slow*w.Slowdown)
		out[i] = 1 / (1 + cost)
	}
}
