package core

import (
	"cmp"
	"math"
	"slices"
	"time"

	"octet/scheduler"
)

// The policies of the naive Core: which request gives way, and which is served next.

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
		if m.Refs[id] == 1 {
			freed++
		}
	}
	for !s.Hybrid && kept < s.computed/m.cfg.BlockSize {
		id, ok := m.Holder(m.Hash(s.Root, s.tokens[:(kept+1)*m.cfg.BlockSize]))
		others := m.Refs[id]
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
	return s.Hybrid && !s.restoring && s.computed > 0 && m.host+bytes <= m.cfg.HostBytes &&
		m.copying(s) < m.compute(s.computed)
}

// choose returns the requests that give way so that fits on a copy, of those at most as urgent as priority.
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
	accounts map[string]*naiveAccount
	now      int64 // virtual time: the tag of the last start
	turn     int
}

type naiveAccount struct {
	tag  int64 // in 2^-16 tokens, so that ties are those of the Core
	turn int
}

func (m *naive) queue(s *simple, now scheduler.Time) {
	s.level = s.Priority
	for m.cfg.Aging > 0 && s.level < m.cfg.AgingCeiling && m.due(s) <= now {
		s.level++
	}
	m.enter(s)
}

// due is when s rises from its level.
func (m *naive) due(s *simple) scheduler.Time {
	return s.Arrival + scheduler.Time(s.level-s.Priority+1)*m.cfg.Aging
}

func (m *naive) enter(s *simple) {
	l := m.lanes[s.level]
	if l == nil {
		l = &naiveLane{accounts: map[string]*naiveAccount{}}
		m.lanes[s.level] = l
	}
	a := l.accounts[s.Tenant]
	if a == nil {
		a = &naiveAccount{tag: l.now}
		l.accounts[s.Tenant] = a
	}
	if waits := m.waitingOf(s.level, s.Tenant); waits <= 1 { // s itself
		l.turn++
		a.turn = l.turn
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

// charge moves the tenant's tag by what s costs over its weight.
func (m *naive) charge(s *simple, tokens int) {
	l := m.lanes[s.level]
	a := l.accounts[s.Tenant]
	least := a.tag // s itself waits no more
	if next := l.accounts[m.firstOf(s.level)]; next != nil {
		least = min(least, next.tag)
	}
	l.now = max(l.now, least)
	a.tag += int64(tokens) << 16 / int64(max(1, m.cfg.Weights(s.Tenant)))
	l.turn++
	a.turn = l.turn
}

// firstOf is the tenant whose turn it is, of those for which a request waits.
func (m *naive) firstOf(level int) (tenant string) {
	var best *naiveAccount
	for t, a := range m.lanes[level].accounts {
		if m.waitingOf(level, t) == 0 {
			continue
		}
		if best == nil || a.tag < best.tag || a.tag == best.tag && a.turn < best.turn {
			tenant, best = t, a
		}
	}
	return tenant
}

func (m *naive) waitingOf(level int, tenant string) (n int) {
	for _, s := range m.live {
		if !s.running && s.level == level && s.Tenant == tenant {
			n++
		}
	}
	return n
}

// settle forgets the tenants that owe nothing and do not wait, and levels where none waits.
func (m *naive) settle() {
	for level, l := range m.lanes {
		waiting := 0
		for t, a := range l.accounts {
			n := m.waitingOf(level, t)
			if waiting += n; n == 0 && a.tag <= l.now {
				delete(l.accounts, t)
			}
		}
		if waiting == 0 {
			delete(m.lanes, level)
		}
	}
}

// head is the request that is served next; nil if none waits.
func (m *naive) head() *simple {
	top := math.MinInt
	for level := range m.lanes {
		top = max(top, level)
	}
	for _, s := range m.sortedByArrival() {
		if s.level == top && s.Tenant == m.firstOf(top) {
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
