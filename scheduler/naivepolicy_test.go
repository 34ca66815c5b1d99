package scheduler

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// The policies of the naive Core: who gives way, and who is served next.

func (m *naive) lane(s *simple) string {
	if m.cfg.CrossAdapter {
		return ""
	}
	return s.Adapter
}

// price is what a block costs that s frees by giving way.
func (m *naive) price(s *simple) float64 {
	freed, kept := 0, 0
	for _, id := range s.table {
		if m.refs[id] == 1 {
			freed++
		}
	}
	for !s.Hybrid && kept < s.computed/m.cfg.BlockSize {
		id, ok := m.holder(m.hash(s, (kept+1)*m.cfg.BlockSize))
		others := m.refs[id]
		if slices.Contains(s.table, id) {
			others--
		}
		if !ok || others == 0 {
			break
		}
		kept++
	}
	cost := m.compute(s.computed - kept*m.cfg.BlockSize)
	if s.restoring {
		cost = 0
	} else if m.worthSaving(s) {
		cost = m.copying(s)
	}
	if freed == 0 {
		return math.Inf(1)
	}
	return float64(cost) / float64(freed)
}

func (m *naive) compute(n int) time.Duration {
	return time.Duration(float64(n) * 1e9 / m.cfg.PrefillRate)
}

func (m *naive) copying(s *simple) time.Duration {
	return time.Duration(2e9 * float64(m.cfg.SSMStateBytes+m.cfg.KVTokenBytes*int64(s.computed)) / m.cfg.LinkBandwidth)
}

func (m *naive) worthSaving(s *simple) bool {
	bytes := m.cfg.SSMStateBytes + m.cfg.KVTokenBytes*int64(s.computed)
	return s.Hybrid && !s.restoring && s.computed > 0 && m.host+bytes <= m.cfg.HostBytes && m.copying(s) < m.compute(s.computed)
}

// choose returns who gives way so that fits on a copy, of those at most as urgent as priority.
func (m *naive) choose(priority int, self *simple, fits func(*naive) bool) []*simple {
	var order []*simple
	for _, s := range m.sorted(true) {
		if s.Priority <= priority && s.gaveWay < pinAfter && !s.fresh {
			order = append(order, s)
		}
	}
	slices.Reverse(order)
	hybrid := func(s *simple) int {
		if s.Hybrid {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b *simple) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(m.price(a), m.price(b)), hybrid(a)-hybrid(b))
	})
	without := func(gone []*simple) bool {
		c := m.clone()
		for _, s := range gone {
			c.stop(c.find(s.ID))
		}
		return fits(c)
	}
	for n := range order {
		if order[n] == self {
			return []*simple{self}
		}
		gone := slices.Clone(order[:n+1])
		if !without(gone) {
			continue
		}
		for i := n; i >= 0 && len(gone) > 1; i-- {
			if fewer := slices.Delete(slices.Clone(gone), i, i+1); without(fewer) {
				gone = fewer
			}
		}
		return gone
	}
	return nil
}

// naiveLane is one level's tenants.
type naiveLane struct {
	accounts    map[string]*naiveAccount
	round, turn int
}

type naiveAccount struct{ share, deficit, round, turn int }

func (m *naive) queue(s *simple, now Time) {
	s.level = s.Priority
	for m.cfg.Aging > 0 && s.level < m.cfg.AgingCeiling && m.due(s) <= now {
		s.level++
	}
	m.enter(s)
}

// due is when s rises from its level.
func (m *naive) due(s *simple) Time { return s.Arrival + Time(s.level-s.Priority+1)*m.cfg.Aging }

func (m *naive) enter(s *simple) {
	l := m.lanes[s.level]
	if l == nil {
		l = &naiveLane{accounts: map[string]*naiveAccount{}}
		m.lanes[s.level] = l
	}
	if l.accounts[s.Tenant] == nil {
		l.turn++
		share := m.cfg.Quantum * max(1, m.cfg.Weights(s.Tenant))
		l.accounts[s.Tenant] = &naiveAccount{share, share, l.round, l.turn}
	}
	m.settle()
}

func (m *naive) lift() {
	for {
		var next *simple
		for _, s := range m.sorted(false) {
			if m.cfg.Aging == 0 || s.level >= m.cfg.AgingCeiling || m.due(s) > m.now {
				continue
			}
			if next == nil || m.due(s) < m.due(next) || m.due(s) == m.due(next) && s.ID < next.ID {
				next = s
			}
		}
		if next == nil {
			return
		}
		level := next.level + 1
		next.level = math.MinInt // out of its lane
		m.settle()
		next.level = level
		m.enter(next)
	}
}

// charge plays the rounds one by one.
func (m *naive) charge(s *simple, tokens int) {
	l := m.lanes[s.level]
	a := l.accounts[s.Tenant]
	a.deficit -= tokens
	if a.deficit > 0 {
		return
	}
	for a.deficit <= 0 {
		a.deficit += a.share
		a.round++
	}
	l.turn++
	a.turn = l.turn
}

// first is the tenant whose turn it is.
func (l *naiveLane) first() (tenant string) {
	var best *naiveAccount
	for t, a := range l.accounts {
		if best == nil || a.round < best.round || a.round == best.round && a.turn < best.turn {
			tenant, best = t, a
		}
	}
	return tenant
}

func (m *naive) waits(level int, tenant string) bool {
	return slices.ContainsFunc(m.live, func(s *simple) bool { return !s.running && s.level == level && s.Tenant == tenant })
}

// settle closes accounts whose turn it is in vain, and levels where nobody waits.
func (m *naive) settle() {
	for level, l := range m.lanes {
		for len(l.accounts) > 0 && !m.waits(level, l.first()) {
			delete(l.accounts, l.first())
		}
		if len(l.accounts) == 0 {
			delete(m.lanes, level)
		} else {
			l.round = l.accounts[l.first()].round
		}
	}
}

// head is who is served next; nil where nobody waits.
func (m *naive) head() *simple {
	top := math.MinInt
	for level := range m.lanes {
		top = max(top, level)
	}
	for _, s := range m.sortedByArrival() {
		if s.level == top && s.Tenant == m.lanes[top].first() {
			return s
		}
	}
	return nil
}

func (m *naive) sortedByArrival() []*simple {
	list := m.sorted(false)
	slices.SortFunc(list, func(a, b *simple) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	return list
}
