package queue

import "octet/scheduler"

// Preview plays the turns of a Backlog without changing it. The zero value is ready; it keeps its memory.
type Preview[T Waiting[T]] struct {
	contenders []contender[T]
	turn       uint64 // of the last that started
}

// contender is a tenant in a lane, as it will be.
type contender[T Waiting[T]] struct {
	account *account[T] // nil for a tenant without requests
	rank    Rank        // tag and turn
	weight  int
	open    []int // of its requests: slots whose parents were served
	asks    bool  // the newcomer is this tenant's
}

// NoCharge is the cost of a start that moves no tag.
const NoCharge = -1

// fewTenants is how many tenants of a lane are played. A newcomer behind so many waits for others anyway.
const fewTenants = 64

// Newcomer is a request that asks for its turn and is not queued. Its level is its priority lifted by age.
type Newcomer struct {
	Rank   Rank
	Tenant string
	Level  int
}

// Newcomer returns a request of that rank as one that asks for its turn now.
func (b *Backlog[T]) Newcomer(r Rank, tenant string, now scheduler.Time) Newcomer {
	return Newcomer{r, tenant, b.Level(r, now)}
}

// Leads reports whether n would be served next.
func (b *Backlog[T]) Leads(n *Newcomer) bool {
	if b.count == 0 {
		return true
	}
	l := b.lanes[0]
	if l.level != n.Level {
		return n.Level > l.level
	}
	a := l.tenants.Top()
	if a.tenant == n.Tenant {
		return n.Rank.amongEquals().Before(a.requests.TopRank())
	}
	return l.tagOf(n.Tenant) < a.tag
}

// AheadOf returns about how many are served before n: while n's tenant is served on its level, each other tenant there
// has its share, as if all requests cost the same.
func (b *Backlog[T]) AheadOf(n *Newcomer) int {
	count, l := b.Ahead(n.Level+1), b.find(n.Level)
	if l == nil {
		return count
	}
	own, weight := 0, b.weigh(n.Tenant)
	if a := l.accounts[n.Tenant]; a != nil {
		own = a.requests.Len()
	}
	count += own
	for _, t := range l.tenants.slots {
		if a := t.item; a.tenant != n.Tenant {
			count += min(a.requests.Len(), (own+1)*a.weight/weight+1)
		}
	}
	return count
}

// Before yields the requests that are served before n, in order. cost is what each start is charged.
func (p *Preview[T]) Before(b *Backlog[T], n *Newcomer, cost func(T) int, yield func(T) bool) {
	for _, l := range b.lanes {
		if l.level < n.Level || !p.play(b, l, n, cost, yield) {
			return
		}
	}
}

// Behind yields the requests of the tenant of s, at its level, that are served after s, which is the first of them:
// most of them at most, in order.
func (p *Preview[T]) Behind(s T, most int, yield func(T) bool) {
	p.contenders = p.contenders[:0]
	p.add(contender[T]{account: s.entry().account})
	c := &p.contenders[0]
	for i := range most + 1 {
		at, waits := c.next()
		if !waits {
			return
		}
		if r := c.take(at); i > 0 && !yield(r) {
			return
		}
	}
}

// play yields the requests of l before n, and reports whether to go on.
func (p *Preview[T]) play(b *Backlog[T], l *lane[T], n *Newcomer, cost func(T) int, yield func(T) bool) bool {
	p.enter(b, l, n)
	alone := len(p.contenders) == 1
	for len(p.contenders) > 0 {
		c := p.first()
		at, waits := c.next()
		if c.asks && (!waits || !c.account.requests.slots[at].rank.Before(n.Rank.amongEquals())) {
			return false
		}
		if !waits {
			p.drop(c)
			continue
		}
		s := c.take(at)
		if !yield(s) {
			return false
		}
		if n := cost(s); !alone && n != NoCharge {
			p.charge(c, n)
		}
	}
	return true
}

// enter makes contenders of the tenants of l, and of n's if that is its level.
func (p *Preview[T]) enter(b *Backlog[T], l *lane[T], n *Newcomer) {
	p.contenders, p.turn = p.contenders[:0], l.turn
	asks := l.level == n.Level
	for _, t := range l.tenants.slots {
		if own := asks && t.item.tenant == n.Tenant; own || len(p.contenders) < fewTenants {
			p.add(contender[T]{account: t.item, rank: t.rank, weight: t.item.weight, asks: own})
		}
	}
	if a := l.accounts[n.Tenant]; asks && (a == nil || a.owing) {
		p.turn++
		p.add(contender[T]{rank: Rank{0, l.tagOf(n.Tenant), p.turn}, weight: b.weigh(n.Tenant), asks: true})
	}
}

// add keeps the memory of an earlier contender.
func (p *Preview[T]) add(c contender[T]) {
	i := len(p.contenders)
	if i < cap(p.contenders) {
		c.open = p.contenders[:i+1][i].open[:0]
	}
	if c.account != nil && c.account.requests.Len() > 0 {
		c.open = append(c.open, 0)
	}
	p.contenders = append(p.contenders, c)
}

func (p *Preview[T]) drop(c *contender[T]) {
	last := len(p.contenders) - 1
	*c, p.contenders[last] = p.contenders[last], *c
	p.contenders = p.contenders[:last]
}

// first returns the contender whose turn it is.
func (p *Preview[T]) first() *contender[T] {
	best := &p.contenders[0]
	for i := range p.contenders {
		if c := &p.contenders[i]; c.rank.Before(best.rank) {
			best = c
		}
	}
	return best
}

// charge is what lane.charge does.
func (p *Preview[T]) charge(c *contender[T], cost int) {
	p.turn++
	c.rank = Rank{0, c.rank.Arrival + max(1, tag(cost)*tagUnit/tag(c.weight)), p.turn}
}

// next returns where in c.open its next request is.
func (c *contender[T]) next() (slot int, ok bool) {
	if len(c.open) == 0 {
		return 0, false
	}
	slots := c.account.requests.slots
	best := c.open[0]
	for _, i := range c.open {
		if slots[i].rank.Before(slots[best].rank) {
			best = i
		}
	}
	return best, true
}

// take serves the request at slot: those below it in the heap are next.
func (c *contender[T]) take(slot int) T {
	slots := c.account.requests.slots
	for i := range c.open {
		if c.open[i] == slot {
			c.open[i] = c.open[len(c.open)-1]
			c.open = c.open[:len(c.open)-1]
			break
		}
	}
	for child := slot*arity + 1; child < min(slot*arity+1+arity, len(slots)); child++ {
		c.open = append(c.open, child)
	}
	return slots[slot].item
}
