package routing

import (
	"context"
	"runtime/debug"
	"slices"

	"octet/routing/index"
)

// Profile is a checked composition of plugins. It is a Selector, safe for concurrent use.
type Profile struct {
	name      string
	role      Role
	preparers []preparer
	writes    slotSet // of all preparers
	filters   []filter
	scorers   []scorer
	picker    picker
	learners  []learner
}

// cut notes what is left after a filter, and returns true if that is less than before.
func (r *record) cut(filter int) bool {
	before := &r.candidates
	if n := len(r.cuts); n > 0 {
		before = &r.cuts[n-1].left
	}
	if r.left.Equal(before) || r.left.Keep(before) && r.left.Equal(before) { // what a filter adds is ignored
		return false
	}
	r.cuts = append(r.cuts, cut{filter: filter, left: r.left})
	return true
}

// Name returns the profile's name.
func (p *Profile) Name() string { return p.name }

// Select decides. It fails with a *NoCandidateError, a *PrepareError or a *PluginPanicError.
//
// Without Preparers that allocate it allocates nothing once c's buffers have grown.
func (p *Profile) Select(ctx context.Context, c *Context) (Decision, error) {
	at := len(c.records)
	ranked, err := p.rank(ctx, c)
	if err != nil {
		return Decision{}, err
	}
	r := c.records[at]
	return Decision{Role: p.role, Ranked: ranked, Candidates: r.candidates, Eligible: r.left}, nil
}

// rank is Select without all but the ranking.
func (p *Profile) rank(ctx context.Context, c *Context) ([]Scored, error) {
	if c.answering.Empty() || !p.answers() {
		return p.rankAll(ctx, c)
	}
	all := c.candidates
	c.candidates = all.And(c.answering)
	ranked, err := p.rankAll(ctx, c)
	c.candidates = all
	return ranked, err
}

// rankAll ranks all candidates.
func (p *Profile) rankAll(ctx context.Context, c *Context) (ranked []Scored, err error) {
	r := c.begin(p)
	defer c.end(&err)
	if c.candidates.Empty() {
		return nil, &NoCandidateError{}
	}
	if err := p.prepare(ctx, c, r); err != nil {
		return nil, err
	}
	if err := p.filter(c, r); err != nil {
		return nil, err
	}
	p.score(c, r)
	if ranked, err = p.pick(c, r); err != nil {
		return nil, err
	}
	if len(p.learners) > 0 && !c.facts.Dry {
		p.learn(c, ranked[0].Host)
	}
	return ranked, nil
}

// answers reports whether the replica that p picks gives the answer, or a part of it.
func (p *Profile) answers() bool { return p.role == RoleBoth || p.role == RoleDecode }

// prepare runs the Preparers, except for those whose slots are written. With a single candidate it runs only those that
// are needed without a choice, too.
func (p *Profile) prepare(ctx context.Context, c *Context, r *record) error {
	prepared, single := c.prepared != slotSet{}, c.candidates.Count() <= 1
	if !prepared && !single {
		for i := range p.preparers {
			if err := p.preparers[i].run(ctx, c, r); err != nil {
				return err
			}
		}
		c.prepared = p.writes
		return nil
	}
	for i := range p.preparers {
		if err := p.prepareOne(ctx, c, r, i); err != nil {
			return err
		}
	}
	return nil
}

// prepareOne runs a Preparer, unless its slots are there or there is nothing to choose that it is needed for.
func (p *Profile) prepareOne(ctx context.Context, c *Context, r *record, i int) error {
	u := &p.preparers[i]
	if !u.always && c.candidates.Count() <= 1 || c.prepared.covers(&u.unit.writes) {
		return nil
	}
	if err := u.run(ctx, c, r); err != nil {
		return err
	}
	c.prepared.join(&u.unit.writes)
	return nil
}

// filter leaves in r.left, and in r.hosts, the candidates that pass every filter.
func (p *Profile) filter(c *Context, r *record) error {
	for i := range p.filters {
		u := &p.filters[i]
		c.enter(u.unit)
		u.Filter.Filter(View{c}, &r.left)
		c.leave(r)
		if !r.cut(i) {
			continue
		}
		if c.traced {
			r.reason(u, View{c})
		}
		if r.left.Empty() {
			return r.noneLeft(u)
		}
	}
	r.hosts = appendHosts(r.hosts, &r.left)
	return nil
}

// score fills r.raw and r.total. A single candidate left is not scored: its total is 0.
func (p *Profile) score(c *Context, r *record) {
	n := len(r.hosts)
	r.total = zeroed(r.total, n)
	if n == 1 {
		return
	}
	r.raw = zeroed(r.raw, n*len(p.scorers))
	for i := range p.scorers {
		u := &p.scorers[i]
		c.enter(u.unit)
		row := r.raw[i*n : (i+1)*n]
		u.Score(View{c}, r.hosts, row)
		for j, s := range row {
			if !(s >= 0 && s <= 1) {
				s = u.clamp(s)
				row[j] = s
			}
			r.total[j] += float64(u.weight * s) // rounded by itself: no fused multiply-add on any machine
		}
		c.leave(r)
	}
}

func (p *Profile) pick(c *Context, r *record) ([]Scored, error) {
	u := &p.picker
	c.enter(u.unit)
	start, n := len(c.ranked), len(r.hosts)
	c.ranked = slices.Grow(c.ranked, n)[:start+n]
	scored := c.ranked[start : start+n : start+n]
	for i, h := range r.hosts {
		scored[i] = Scored{Host: h, Score: r.total[i]}
	}
	picked := u.Pick(View{c}, scored)
	c.leave(r)
	if len(picked) == 0 {
		return nil, r.nothingPicked(u, View{c})
	}
	u.check(picked, &r.left)
	return picked, nil
}

func (p *Profile) learn(c *Context, picked index.HostID) {
	for i := range p.learners {
		u := &p.learners[i]
		c.enter(u.unit)
		u.Learn(View{c}, picked)
	}
}

// begin opens the record of one Select.
func (c *Context) begin(p *Profile) *record {
	n := len(c.records)
	if n < cap(c.records) {
		c.records = c.records[:n+1]
	} else {
		c.records = append(c.records, nil)
	}
	r := c.records[n]
	if r == nil {
		r = new(record)
		c.records[n] = r
	}
	r.reset(p, &c.candidates)
	c.role = p.role
	if c.now != nil {
		c.last = c.now()
	}
	return r
}

// end turns a plugin's panic into err. It is deferred by Select.
func (c *Context) end(err *error) {
	u := c.running
	if u == outside {
		return
	}
	c.running = outside
	if v := recover(); v != nil {
		u.panics.Add(1)
		*err = &PluginPanicError{Plugin: u.name, Value: v, Stack: debug.Stack()}
	}
}

// zeroed returns a slice of n zeroes, in buf where it fits.
func zeroed(buf []float64, n int) []float64 {
	if cap(buf) < n {
		return make([]float64, n)
	}
	buf = buf[:n]
	clear(buf)
	return buf
}
