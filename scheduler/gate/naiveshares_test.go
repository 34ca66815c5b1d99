package gate

import (
	"cmp"
	"slices"
)

// naiveShares is how tenants share an engine, written out: on each level a tenant's tag is what it has started, over
// its weight, and the tenant with the least is next. A level is forgotten with its last waiting request.
type naiveShares struct {
	weights map[string]int
	levels  map[int]*naiveLevel
	turn    int
}

// naiveLevel is one priority.
type naiveLevel struct {
	now   int64 // the tag of the last start
	tags  map[string]int64
	turns map[string]int // of tenants with requests waiting: which began to wait, or started, before which
}

// naiveUnit is what a cost of 1 moves a tenant of weight 1.
const naiveUnit = 1 << 16

// tag is where a tenant's next start stands. Nothing is saved up: it is never before the last start of any.
func (l *naiveLevel) tag(tenant string) int64 { return max(l.now, l.tags[tenant]) }

// worth is by how much a cost moves a tenant.
func (s *naiveShares) worth(tenant string, cost int) int64 {
	return int64(cost) * naiveUnit / int64(max(1, s.weights[tenant]))
}

// came notes that a request waits.
func (s *naiveShares) came(waiting []*naiveWaiter, w *naiveWaiter) {
	l := s.levels[w.rank.Priority]
	if l == nil {
		l = &naiveLevel{tags: map[string]int64{}, turns: map[string]int{}}
		s.levels[w.rank.Priority] = l
	}
	if !slices.ContainsFunc(waiting, func(o *naiveWaiter) bool { return o != w && alike(o, w) }) {
		s.turn++
		l.turns[w.tenant] = s.turn
	}
}

// alike returns true for two of one tenant on one level.
func alike(a, b *naiveWaiter) bool { return a.rank.Priority == b.rank.Priority && a.tenant == b.tenant }

// left forgets levels on which no request waits any more.
func (s *naiveShares) left(waiting []*naiveWaiter) {
	for level := range s.levels {
		if !slices.ContainsFunc(waiting, func(w *naiveWaiter) bool { return w.rank.Priority == level }) {
			delete(s.levels, level)
		}
	}
}

// pays has a tenant pay for a start on a level where requests wait. The time of the level comes to the start, or to the
// one that was next.
func (s *naiveShares) pays(waiting []*naiveWaiter, level int, tenant string, cost int) {
	l := s.levels[level]
	if l == nil {
		return
	}
	next := l.tag(s.top(waiting, level).tenant)
	was := l.tag(tenant)
	l.now = max(l.now, min(was, next))
	s.moves(l, tenant, was+max(1, s.worth(tenant, cost)))
}

// amends has a tenant pay so much more on a level where requests wait, or less.
func (s *naiveShares) amends(level int, tenant string, more int) {
	if l := s.levels[level]; l != nil && more != 0 {
		s.moves(l, tenant, max(l.now, l.tag(tenant)+s.worth(tenant, more)))
	}
}

func (s *naiveShares) moves(l *naiveLevel, tenant string, to int64) {
	s.turn++
	l.tags[tenant], l.turns[tenant] = to, s.turn
}

// top returns the request that is next on a level on which requests wait.
func (s *naiveShares) top(waiting []*naiveWaiter, level int) *naiveWaiter {
	l, best := s.levels[level], (*naiveWaiter)(nil)
	for _, w := range waiting {
		if w.rank.Priority == level && (best == nil || s.before(l, w, best)) {
			best = w
		}
	}
	return best
}

// before returns true if a is next rather than b, of the same level.
func (s *naiveShares) before(l *naiveLevel, a, b *naiveWaiter) bool {
	if a.tenant == b.tenant {
		return cmp.Or(cmp.Compare(a.rank.Arrival, b.rank.Arrival), cmp.Compare(a.rank.ID, b.rank.ID)) < 0
	}
	return cmp.Or(cmp.Compare(l.tag(a.tenant), l.tag(b.tenant)),
		cmp.Compare(l.turns[a.tenant], l.turns[b.tenant])) < 0
}

// leads returns true if w, which does not wait yet, would be next.
func (s *naiveShares) leads(waiting []*naiveWaiter, w *naiveWaiter) bool {
	if len(waiting) == 0 {
		return true
	}
	level := highest(waiting)
	if level != w.rank.Priority {
		return w.rank.Priority > level
	}
	l, first := s.levels[level], s.top(waiting, level)
	if first.tenant == w.tenant {
		return s.before(l, w, first)
	}
	return l.tag(w.tenant) < l.tag(first.tenant)
}

func highest(waiting []*naiveWaiter) int {
	return slices.MaxFunc(waiting, func(a, b *naiveWaiter) int {
		return cmp.Compare(a.rank.Priority, b.rank.Priority)
	}).rank.Priority
}

// head returns the request that is served next; nil if none waits.
func (m *naiveGate) head() *naiveWaiter {
	if len(m.waiting) == 0 {
		return nil
	}
	return m.shares.top(m.waiting, highest(m.waiting))
}

// push has w wait.
func (m *naiveGate) push(w *naiveWaiter) {
	m.waiting = append(m.waiting, w)
	m.shares.came(m.waiting, w)
}

// drop has w wait no more.
func (m *naiveGate) drop(w *naiveWaiter) {
	m.waiting = slices.DeleteFunc(m.waiting, func(o *naiveWaiter) bool { return o == w })
	m.shares.left(m.waiting)
}

// cost is what w takes of its tenant's share: the tokens of its prompt that no cache saves, and those that it has to
// say, in tokens of a prompt that take the engine as long.
func (m *naiveGate) cost(w *naiveWaiter) int {
	s := naiveHold{tokens: w.tokens}
	c := m.copied()
	c.share(&s, w.more, w.resume)
	uncached := len(w.tokens) + w.more.uncached(m.BlockSize) + w.resume - s.computed
	says := m.rates.tokens(w.most)
	if usual := m.rates.length.value(); usual > 0 {
		says = min(says, usual)
	}
	says = max(0, says*float64(w.more.sequences())-float64(w.resume))
	return uncached + int(says*m.perToken(m.rates))
}

// perToken is what one token of an answer costs by what was measured: its part of a step among all that run, in tokens
// of a prompt.
func (m *naiveGate) perToken(r rates) float64 {
	slope, ok := r.ttft.slope()
	if !ok || slope <= 0 || !r.ttft.known() || !r.pace.known() {
		return 1
	}
	company := float64(max(1, m.sequences()))
	return min(256, max(1, r.pace.level(company)/company/slope))
}

// settles has the tenant of a request that has ended pay what it cost, instead of what was thought: what this engine
// has computed of the prompt, and what it has said, which is not what another engine had said before.
func (m *naiveGate) settles(t *naiveTicket, before rates) {
	if t.paid == 0 || len(m.waiting) == 0 {
		return
	}
	cost := t.uncached + int(float64(t.said-t.resume)*m.perToken(before))
	m.shares.amends(t.rank.Priority, t.tenant, cost-t.paid)
}

// naiveTenants are those of the runs, by weight.
var naiveTenants = map[string]int{"a": 1, "b": 2, "c": 5}

func newNaiveShares() *naiveShares {
	return &naiveShares{weights: naiveTenants, levels: map[int]*naiveLevel{}}
}
