package plan

import (
	"strconv"

	"octet/gateway/ensemble"
	"octet/routing/index"
)

// HintHeader is the header that tells an engine what it is believed to hold of the prompt that comes with it, so that
// it can fetch in time what lies in a slower tier: "blocks=12, gpu=10, cpu=2, tokens=192". Tiers that hold none are
// left out, and so is the whole header where nothing is held. Blocks that were routed there and of which no event has
// told yet are in no tier.
const HintHeader = "X-Octet-Cache-Hint"

// Hint adds to hop what its replica is believed to hold. It asks the index for this one replica, and only where there
// is a hit.
func (p *Plan) Hint(hop *ensemble.Hop) {
	if p.route == nil || hop.NoPlace {
		return
	}
	tokens := p.Predicted(hop.Replica.Host)
	if tokens == 0 {
		return
	}
	blocks := tokens / p.Specialist.BlockSize
	held := p.Specialist.Tiers(p.route.View(), hop.Replica.Host, blocks)
	hop.AddField(HintHeader, hintValue(blocks, tokens, held))
}

func hintValue(blocks, tokens int, held ensemble.InTiers) string {
	var room [136]byte
	b := strconv.AppendInt(append(room[:0], "blocks="...), int64(blocks), 10)
	for tier, n := range held {
		if n > 0 {
			b = append(append(append(b, ", "...), index.Tier(tier).String()...), '=')
			b = strconv.AppendInt(b, int64(n), 10)
		}
	}
	return string(strconv.AppendInt(append(b, ", tokens="...), int64(tokens), 10))
}
