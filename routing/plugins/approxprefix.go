package plugins

import (
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/index"
)

// Guesses remembers which prompts were routed where. Safe for concurrent use.
type Guesses interface {
	// Depths sets out[h], for each h in among, to the number of leading blocks of chain that h is guessed to hold.
	Depths(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time, out *[index.MaxHosts]uint16)
}

// approxPrefix scores the share of the prompt's blocks that a replica is guessed to hold, since they were routed to it
// lately: for engines that publish no events. All get 0 for a prompt without a full block.
type approxPrefix struct {
	named
	guesses Guesses
}

func newApproxPrefix(d Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		p.Need("a memory of what was routed where", d.Guesses != nil)
		return approxPrefix{named{"approx-prefix", reads(BlockHashes, routing.Optional(Fleet))}, d.Guesses}
	}
}

// Score implements routing.Scorer.
func (s approxPrefix) Score(v routing.View, hosts []index.HostID, out []float64) {
	chain := shorten(BlockHashes.Get(v))
	if len(chain) == 0 {
		return
	}
	var depths [index.MaxHosts]uint16
	s.guesses.Depths(chain, index.HostSet(hosts...), v.Facts().Now, &depths)
	gone := Fleet.Get(v).Departed()
	for i, h := range hosts {
		if !gone.Has(h) {
			out[i] = float64(depths[h]) / float64(len(chain))
		}
	}
}
