package receipt

import (
	"octet/routing"
	"octet/routing/index"
)

// Pipeline is what the passes through one specialist's pipeline have in common.
type Pipeline struct {
	Specialist string
	BlockSize  int                    // tokens
	Grain      func(index.HostID) int // blocks in one of a host's engine's; nil is one for all
	Names      *Names
	Depths     *[index.MaxHosts]uint16 // blocks of the prompt that each host holds; nil if that is not known
}

// Route records how the legs of a workflow selected, one after the other. err is what ended the plan.
func (d *Draft) Route(p *Pipeline, prompt Prompt, legs []routing.LegSelection, plan routing.Plan, err error) {
	d.r.Prompt = prompt
	for i, leg := range legs {
		record := Routing{Specialist: p.Specialist, Step: leg.Leg, Skipped: leg.Skipped,
			Profile: leg.Way, Rule: leg.Why, selected: leg.Selected, names: p.Names}
		if err != nil && i == len(legs)-1 {
			record.Skipped, record.Error = "", err.Error()
		}
		if pick, ok := pickOf(plan, leg.Leg); ok && leg.Selected != nil && leg.Skipped == "" {
			record.Hit = p.hit(leg.Eligible(), pick, prompt.Tokens)
		}
		d.r.Routing = append(d.r.Routing, record)
	}
}

// pickOf returns the first in rank for a leg of the plan.
func pickOf(plan routing.Plan, leg string) (index.HostID, bool) {
	for i := range plan.Steps {
		if s := &plan.Steps[i]; s.Name == leg {
			return s.Ranked[0].Host, true
		}
	}
	return 0, false
}

// hit compares what the pick is believed to hold with the most that any eligible replica does.
func (p *Pipeline) hit(eligible *index.HostBitmap, pick index.HostID, tokens int) Hit {
	h := Hit{Replica: p.Names[pick], Chosen: p.held(pick, tokens), Best: -1}
	for host := range eligible.All() {
		if held := p.held(host, tokens); held > h.Best {
			h.Best, h.BestReplica = held, p.Names[host]
		}
	}
	h.Best = max(h.Best, h.Chosen)
	if computed := tokens - h.Chosen; computed > 0 {
		h.Regret = float64(h.Best-h.Chosen) / float64(computed)
	}
	return h
}

func (p *Pipeline) held(host index.HostID, tokens int) int {
	if p.Depths == nil {
		return 0
	}
	grain := 1
	if p.Grain != nil {
		grain = p.Grain(host)
	}
	return Servable(int(p.Depths[host]), tokens, p.BlockSize, grain)
}

// Servable returns how many tokens of a prompt a replica serves from a cache that holds so many of its blocks: whole
// ones of its engine's, of which each is grain blocks of size tokens, and never the last token, which engines compute
// again even of a prompt that they hold whole.
func Servable(blocks, tokens, size, grain int) int {
	n := min(blocks, max(tokens-1, 0)/size)
	return (n - n%grain) * size
}
