package gateway

import (
	"math/bits"

	"octet/routing"
	"octet/routing/index"
)

// legRefs is what passes through a specialist's pipeline have in common: it is not written down with each.
type legRefs struct {
	specialist string
	size       int // tokens a block
	names      *[index.MaxHosts]string
	profile    *routing.Profile // that selected; nil where nothing was
}

// legFacts is what is written down of one pass.
type legFacts struct {
	*legRefs
	facts        []byte // of the profile
	leg, skipped string
	err          string // what ended the plan; "" where nothing did
	tokens       int    // of the prompt
	pick         int    // the host, or noPick
	// two for the blocks of the prompt that each candidate is believed to hold, ascending by host; none: nobody knows
	held []byte
}

// noPick is past all hosts.
const noPick = index.MaxHosts

// note adds a pass through a specialist's pipeline, one leg of its plan after the other.
func (r *Receipt) note(x *exchange, plan routing.Plan, err error) {
	depths := x.sp.depths(x.route.View())
	for i, n := 0, x.route.Accounts(); i < n; i++ {
		begin, why := len(r.legs), ""
		a := routing.Account{Facts: append(r.legs, 0, 0, 0, 0)}
		x.route.Account(i, &a)
		le.PutUint32(a.Facts[begin:], uint32(len(a.Facts)-begin-4))
		if err != nil && i == n-1 {
			why = err.Error()
		}
		pick, p := pickOf(plan, a.Leg), pen{a.Facts}
		p.words(a.Leg, a.Skipped, why)
		p.pair(x.prompt.Tokens, pick)
		if pick != noPick && depths != nil && a.Candidates != nil {
			p.hold(depths, a.Candidates)
		} else {
			p.count(0)
		}
		r.legs, r.refs = p.b, append(r.refs, legRefs{})
		refs := &r.refs[len(r.refs)-1] // member by member: a copy would wait for what it copies
		refs.specialist, refs.size, refs.names, refs.profile = x.sp.Name, x.sp.BlockSize, x.rt.names, a.Profile
	}
}

// pickOf returns who is first in rank for a leg of the plan.
func pickOf(plan routing.Plan, leg string) int {
	for i := range plan.Steps {
		if s := &plan.Steps[i]; s.Name == leg {
			return int(s.Ranked[0].Host)
		}
	}
	return noPick
}

// hold writes how much each candidate is believed to hold.
func (p *pen) hold(depths *[index.MaxHosts]uint16, candidates *index.HostBitmap) {
	p.count(2 * candidates.Count())
	for i, w := range candidates {
		for ; w != 0; w &= w - 1 {
			p.b = le.AppendUint16(p.b, depths[i<<6+bits.TrailingZeros64(w)])
		}
	}
}

// leg reads what note wrote of one.
func (p *pen) leg(refs *legRefs) RoutingRecord {
	l := legFacts{legRefs: refs}
	l.facts = p.take(int(le.Uint32(p.take(4))))
	l.leg, l.skipped, l.err = p.readWords()
	l.tokens, l.pick = p.readPair()
	l.held = p.take(p.readCount())
	return l.record()
}

func (l *legFacts) record() RoutingRecord {
	record := RoutingRecord{Specialist: l.specialist, Step: l.leg, Skipped: l.skipped}
	if l.err != "" {
		record.Error, record.Skipped = l.err, ""
	}
	if l.profile == nil {
		return record
	}
	record.Trace = l.profile.Retell(l.facts)
	for i := range record.Trace.Candidates {
		c := &record.Trace.Candidates[i]
		c.Replica = l.names[c.Host]
	}
	if l.pick != noPick {
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
			held = servable(int(le.Uint16(l.held[2*i:])), l.tokens, l.size)
		}
		if int(c.Host) == l.pick {
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

// servable returns how many tokens of a prompt a replica serves from a cache that holds so many of its blocks: whole
// blocks, and never the last token, which engines compute again even of a prompt that they hold whole.
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
	if sp.Held != nil { // where there was nothing to choose, nobody has looked
		return sp.Held(v, h)
	}
	return 0
}
