package gateway

import (
	"math/bits"

	"octet/routing"
	"octet/routing/index"
)

// legFacts is what a receipt notes of one pass through a specialist's pipeline besides its routing.Account, until somebody asks.
type legFacts struct {
	specialist string
	err        string // what ended the plan; "" where nothing did
	names      *[index.MaxHosts]string
	tokens     int      // of the prompt
	size       int      // tokens a block
	held       []uint16 // blocks of the prompt that each candidate is believed to hold, ascending by host; none: nobody knows
	pick       index.HostID
	picked     bool
}

// note adds a pass through a specialist's pipeline, one leg of its plan after the other, in the memory of an earlier receipt.
func (r *Receipt) note(x *exchange, plan routing.Plan, err error) {
	first := len(r.accounts)
	r.accounts = x.route.HandOver(r.accounts)
	depths := x.sp.depths(x.route.View())
	for i := first; i < len(r.accounts); i++ {
		if len(r.legs) == cap(r.legs) {
			r.legs = append(r.legs, legFacts{})
		} else {
			r.legs = r.legs[:len(r.legs)+1]
		}
		l, a := &r.legs[i], &r.accounts[i]
		l.specialist, l.names, l.tokens, l.size = x.sp.Name, x.rt.names, x.prompt.Tokens, x.sp.BlockSize
		l.err, l.picked, l.held = "", false, l.held[:0]
		if l.pick, l.picked = pickOf(plan, a.Leg); l.picked && depths != nil {
			l.hold(depths, a.Candidates())
		}
	}
	if n := len(r.legs); err != nil && n > first {
		r.legs[n-1].err = err.Error()
	}
}

// pickOf returns who is first in rank for a leg of the plan.
func pickOf(plan routing.Plan, leg string) (index.HostID, bool) {
	for i := range plan.Steps {
		if s := &plan.Steps[i]; s.Name == leg {
			return s.Ranked[0].Host, true
		}
	}
	return 0, false
}

func (l *legFacts) hold(depths *[index.MaxHosts]uint16, candidates *index.HostBitmap) {
	for i, w := range candidates {
		for ; w != 0; w &= w - 1 {
			l.held = append(l.held, depths[i<<6+bits.TrailingZeros64(w)])
		}
	}
}

// routing writes Routing, once. It needs r.mu.
func (r *Receipt) routing() {
	if r.Routing == nil {
		r.Routing = make([]RoutingRecord, 0, len(r.legs)) // none is an empty list, not null
	}
	for i := len(r.Routing); i < len(r.legs); i++ {
		r.Routing = append(r.Routing, r.legs[i].record(&r.accounts[i]))
	}
}

func (l *legFacts) record(a *routing.Account) RoutingRecord {
	record := RoutingRecord{Specialist: l.specialist, Step: a.Leg, Skipped: a.Skipped, Trace: a.Trace()}
	if l.err != "" {
		record.Error, record.Skipped = l.err, ""
	}
	if record.Trace == nil {
		return record
	}
	for i := range record.Trace.Candidates {
		c := &record.Trace.Candidates[i]
		c.Replica = l.names[c.Host]
	}
	if l.picked {
		h := l.hit(record.Trace)
		record.Hit = &h
	}
	return record
}

// hit compares what the pick is believed to hold with the most that any eligible candidate does.
func (l *legFacts) hit(t *routing.Trace) Hit {
	h := Hit{Best: -1}
	for i := range t.Candidates {
		c, held := &t.Candidates[i], 0
		if len(l.held) > 0 {
			held = servable(int(l.held[i]), l.tokens, l.size)
		}
		if c.Host == l.pick {
			h.Replica, h.Chosen = c.Replica, held
		}
		if c.RemovedBy == "" && held > h.Best {
			h.Best, h.BestReplica = held, c.Replica
		}
	}
	h.Best = max(h.Best, h.Chosen)
	if computed := l.tokens - h.Chosen; computed > 0 {
		h.Regret = float64(h.Best-h.Chosen) / float64(computed)
	}
	return h
}

// servable returns how many tokens of a prompt a replica serves from a cache that holds so many of its blocks: whole blocks, and never
// the last token, which engines compute again even of a prompt that they hold whole.
func servable(blocks, tokens, size int) int { return min(blocks, max(tokens-1, 0)/size) * size }

func (sp *Specialist) depths(v routing.View) *[index.MaxHosts]uint16 {
	if sp.Depths == nil {
		return nil
	}
	return sp.Depths(v)
}

// predicted returns how many leading blocks of the prompt replica h is believed to hold.
func (sp *Specialist) predicted(v routing.View, h index.HostID) int {
	if depths := sp.depths(v); depths != nil {
		return int(depths[h])
	}
	return 0
}
