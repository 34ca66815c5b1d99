package plugins

import (
	"octet/routing"
	"octet/routing/index"
)

// tokenLoad scores the tokens in flight, of prompts and answers, with what this request would add: 1 for none, down to
// 0 at a limit.
type tokenLoad struct {
	named
	limit float64 // tokens
}

// newTokenLoad: threshold_tokens (default 4194304) is the load that scores 0.
func newTokenLoad(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return tokenLoad{
			named{"token-load", reads(Fleet, Loads, routing.Optional(PromptTokens), routing.Optional(Depths))},
			float64(p.Int("threshold_tokens", 4<<20, 1, 1<<40)),
		}
	}
}

// Score implements routing.Scorer.
func (s tokenLoad) Score(v routing.View, hosts []index.HostID, out []float64) {
	loads := Loads.Get(v)
	for i, h := range hosts {
		out[i] = max(0, 1-float64(loads[h].Tokens+uncached(v, h))/s.limit)
	}
}
