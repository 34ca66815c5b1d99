package routing

import (
	"encoding/binary"
	"math"

	"octet/routing/index"
)

// selection is what a Context remembers of one leg of a workflow.
type selection struct {
	leg     string
	skipped string   // why the leg gives no step; "" where it does
	in      *Context // where its record is; nil where nothing was selected
	record  int
}

// made returns the record of the selection; nil where there is none.
func (s *selection) made() *record {
	if s.in == nil || s.record < 0 || s.record >= len(s.in.records) {
		return nil
	}
	return s.in.records[s.record]
}

// LegSelection tells how one leg of a workflow selected. It is a copy: it outlives the Context.
type LegSelection struct {
	Leg     string // "" where there is only one
	Skipped string // why the leg gives no step; "" where it does
	Trace   *Trace // nil where nothing was selected, and without EnableTrace
}

// Selections returns how the legs of the latest workflow went, in their order.
func (c *Context) Selections() []LegSelection {
	var all []LegSelection
	hoisted := c.hoisted
	for i := range c.selections {
		s := &c.selections[i]
		leg := LegSelection{Leg: s.leg, Skipped: s.skipped}
		if r := s.made(); r != nil && c.traced {
			leg.Trace = r.trace(stagesOf(hoisted, r.laps))
			hoisted = nil
		}
		all = append(all, leg)
	}
	return all
}

// Account is a LegSelection that is told when it is asked for: until then it is the bare facts. Leg, Skipped and
// Profile outlive the Context, and Facts lies where the caller had it put.
type Account struct {
	Leg     string // "" where there is only one
	Skipped string // why the leg gives no step; "" where it does

	Candidates *index.HostBitmap // who could be selected, the Context's; nil where nothing is told
	Profile    *Profile          // that selected, and alone can read Facts; nil where nothing is told
	Facts      []byte
}

// Accounts is how many legs Account knows.
func (c *Context) Accounts() int { return len(c.selections) }

// Account makes a what Selections tells of a leg, the bare facts appended to a.Facts.
func (c *Context) Account(leg int, a *Account) {
	s := &c.selections[leg]
	a.Leg, a.Skipped, a.Candidates, a.Profile = s.leg, s.skipped, nil, nil
	if r := s.made(); r != nil && c.traced {
		a.Candidates, a.Profile, a.Facts = &r.candidates, r.profile, r.appendFacts(a.Facts, c.hoistedFor(leg))
	}
}

// hoistedFor is what was prepared for all legs, which the first of them tells that tells anything.
func (c *Context) hoistedFor(leg int) []lap {
	if len(c.hoisted) == 0 {
		return nil
	}
	for i := range leg {
		if c.selections[i].made() != nil {
			return nil
		}
	}
	return c.hoisted
}

// Retell returns the Trace of the Select that left these facts.
func (p *Profile) Retell(facts []byte) *Trace {
	r := record{profile: p}
	return r.trace(r.read(facts))
}

var le = binary.LittleEndian

// appendFacts appends what read reads: four counts (a filter is below 256), who the candidates were, who was left after
// each cut, totals, scores, times. Who passed the filters follows from the cuts.
func (r *record) appendFacts(b []byte, hoisted []lap) []byte {
	laps := min(len(hoisted)+len(r.laps), math.MaxUint8)
	b = le.AppendUint64(b, uint64(len(r.cuts))|uint64(laps)<<8|uint64(len(r.total))<<16|uint64(len(r.raw))<<32)
	b = appendSet(b, &r.candidates)
	for i := range r.cuts {
		b = appendSet(le.AppendUint16(b, uint16(r.cuts[i].filter)), &r.cuts[i].left)
	}
	for _, numbers := range [...][]float64{r.total, r.raw} {
		for _, n := range numbers {
			b = le.AppendUint64(b, math.Float64bits(n))
		}
	}
	if laps > 0 {
		b = appendLaps(appendLaps(b, hoisted), r.laps)
	}
	return b
}

// appendSet appends which words of a set have anybody in them, and these.
func appendSet(b []byte, set *index.HostBitmap) []byte {
	mask := len(b)
	b = append(b, 0)
	for i, w := range set {
		if w != 0 {
			b[mask] |= 1 << i
			b = le.AppendUint64(b, w)
		}
	}
	return b
}

func appendLaps(b []byte, laps []lap) []byte {
	for _, l := range laps {
		b = le.AppendUint64(b, uint64(l.took))
		for _, s := range [...]string{string(l.stage), l.name} {
			b = append(le.AppendUint16(b, uint16(len(s))), s...)
		}
	}
	return b
}

// read makes r what appendFacts was asked of, its laps excepted, which it returns.
func (r *record) read(b []byte) []StageTrace {
	counts, cuts := le.Uint64(b), int(b[0])
	stages := make([]StageTrace, b[1])
	b = readSet(b[8:], &r.candidates)
	r.left = r.candidates
	for range cuts {
		c := cut{filter: int(le.Uint16(b))}
		b = readSet(b[2:], &c.left)
		r.cuts, r.left = append(r.cuts, c), c.left
	}
	r.hosts = appendHosts(nil, &r.left)
	r.total, b = readNumbers(b, int(counts>>16&0xffff))
	r.raw, b = readNumbers(b, int(counts>>32))
	for i := range stages {
		stages[i].NS = int64(le.Uint64(b))
		var stage string
		stage, b = readText(b[8:])
		stages[i].Stage = Stage(stage)
		stages[i].Plugin, b = readText(b)
	}
	return stages
}

func readSet(b []byte, set *index.HostBitmap) []byte {
	mask := b[0]
	b = b[1:]
	for i := range set {
		if mask>>i&1 != 0 {
			set[i], b = le.Uint64(b), b[8:]
		}
	}
	return b
}

func readNumbers(b []byte, n int) (numbers []float64, rest []byte) {
	for ; n > 0; n-- {
		numbers, b = append(numbers, math.Float64frombits(le.Uint64(b))), b[8:]
	}
	return numbers, b
}

func readText(b []byte) (s string, rest []byte) {
	n := 2 + int(le.Uint16(b))
	return string(b[2:n]), b[n:]
}

// stagesOf renders times; none is an empty list, not null.
func stagesOf(hoisted, laps []lap) []StageTrace {
	stages := make([]StageTrace, 0, len(hoisted)+len(laps))
	for _, l := range append(hoisted[:len(hoisted):len(hoisted)], laps...) {
		stages = append(stages, StageTrace{l.stage, l.name, int64(l.took)})
	}
	return stages
}
