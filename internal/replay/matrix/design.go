package matrix

import (
	"math/rand/v2"
	"time"
)

// The factors and their levels, the base cell's first.
var (
	replicas = []int{8, 4, 32, 64}
	pools    = []float64{1, 0.25, 4}
	decodes  = []time.Duration{time.Millisecond, 100 * time.Microsecond, 10 * time.Millisecond}
	loads    = []float64{1, 0.7, 1.3}
	lates    = []time.Duration{0, time.Second, 5 * time.Second}
)

// factors are how many there are beside the trace, which is factor 0.
const factors = 5

// row is a cell by its levels: of the trace, then of the factors in the order above.
type row [factors + 1]int

// levels returns how many levels each factor has.
func levels(traces int) row {
	return row{traces, len(replicas), len(pools), len(decodes), len(loads), len(lates)}
}

func (r row) cell(g Group) Cell {
	return Cell{Group: g, Trace: r[0], Replicas: replicas[r[1]], Pool: pools[r[2]], Decode: decodes[r[3]],
		Load: loads[r[4]], Late: lates[r[5]]}
}

// pair is two levels of two factors that one cell has.
type pair struct{ factor, level, other, level2 int }

// Design returns the cells of the groups over traces: of each trace the base cell, and where it is not brief, each
// factor alone and each Blind; then cells in which each two levels meet that met in no base cell. So each level of a
// factor meets each trace beside levels of other factors, too, not alone only.
func Design(traces []Trace, groups map[Group]bool, seed uint64) (cells []Cell) {
	bases := make([]row, len(traces))
	for t := range traces {
		base := row{t}
		bases[t] = base
		if groups[Base] {
			cells = append(cells, base.cell(Base))
		}
		if traces[t].Brief {
			continue
		}
		if groups[Alone] {
			for _, r := range alone(base) {
				cells = append(cells, r.cell(Alone))
			}
		}
		if groups[Unknown] {
			cells = append(cells, unknown(base)...)
		}
	}
	if groups[Pairs] {
		for _, r := range pairs(bases, levels(len(traces)), seed) {
			cells = append(cells, r.cell(Pairs))
		}
	}
	return cells
}

// alone returns the rows that differ from base in one factor.
func alone(base row) (rows []row) {
	for f, n := range levels(0) {
		for level := 1; f > 0 && level < n; level++ {
			r := base
			r[f] = level
			rows = append(rows, r)
		}
	}
	return rows
}

// unknown returns the base cell with each Blind.
func unknown(base row) (cells []Cell) {
	for _, blind := range []Blind{NoEvents, LateMetrics, Liars} {
		c := base.cell(Unknown)
		c.Blind = blind
		cells = append(cells, c)
	}
	return cells
}

// pairs returns rows that have, together with those given, each pair of levels. It is greedy: of some drawn rows that
// have the first pair that is missing, each time the one that has most.
func pairs(given []row, n row, seed uint64) (rows []row) {
	dice, missing := rand.New(rand.NewPCG(seed, 0x9a125)), allPairs(n)
	for _, r := range given {
		missing.remove(r)
	}
	for at := 0; at < len(missing.order); at++ {
		p := missing.order[at]
		if !missing.has[p] {
			continue
		}
		best, most := row{}, -1
		for range 64 {
			r := row{}
			for f := range r {
				r[f] = dice.IntN(n[f])
			}
			r[p.factor], r[p.other] = p.level, p.level2
			if count := missing.count(r); count > most {
				best, most = r, count
			}
		}
		missing.remove(best)
		rows = append(rows, best)
	}
	return rows
}

// pairSet is pairs that are missing.
type pairSet struct {
	has   map[pair]bool
	order []pair
}

func allPairs(n row) pairSet {
	all := pairSet{has: map[pair]bool{}}
	for f := range n {
		for g := f + 1; g < len(n); g++ {
			for a := range n[f] {
				for b := range n[g] {
					p := pair{f, a, g, b}
					all.has[p] = true
					all.order = append(all.order, p)
				}
			}
		}
	}
	return all
}

// each calls do with each pair of r.
func (r row) each(do func(pair)) {
	for f := range r {
		for g := f + 1; g < len(r); g++ {
			do(pair{f, r[f], g, r[g]})
		}
	}
}

func (s *pairSet) remove(r row) { r.each(func(p pair) { delete(s.has, p) }) }

func (s *pairSet) count(r row) (n int) {
	r.each(func(p pair) {
		if s.has[p] {
			n++
		}
	})
	return n
}

// Ablation returns the cells in which parts of a policy are left out: of each trace that is not brief the base cell,
// and those with short memory, slow decoding and too much load.
func Ablation(traces []Trace) (cells []Cell) {
	for t := range traces {
		if traces[t].Brief {
			continue
		}
		base := row{t}.cell(Base)
		short, slow, loaded := base, base, base
		short.Pool, slow.Decode, loaded.Load = pools[1], decodes[2], loads[2]
		cells = append(cells, base, short, slow, loaded)
	}
	return cells
}
