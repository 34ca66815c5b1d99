package scheduler

// preview plays the turns of a backlog without changing it. The zero value is ready; it keeps its memory.
type preview[T seated[T]] struct {
	contenders []contender[T]
	turn       uint64 // of the last that started
}

// contender is a tenant in a lane, as it will be.
type contender[T seated[T]] struct {
	account *account[T] // nil for one that nobody waits for yet
	rank    rank        // tag and turn
	weight  int
	open    []int // of its requests: whose parents were served
	asks    bool  // the one who asks is this tenant's
}

// free is the cost of a start that moves no tag.
const free = -1

// fewTenants is how many tenants of a lane are played; who comes after so many has others to wait for anyway.
const fewTenants = 64

// newcomer is who asks for its turn: at a level that is its priority lifted by age.
type newcomer struct {
	rank   rank
	tenant string
	level  int
}

func (b *backlog[T]) newcomer(r rank, tenant string, now Time) newcomer {
	return newcomer{r, tenant, b.level(r, now)}
}

// leads reports whether n would be served next.
func (b *backlog[T]) leads(n *newcomer) bool {
	if b.count == 0 {
		return true
	}
	l := b.lanes[0]
	if l.level != n.level {
		return n.level > l.level
	}
	a := l.tenants.top()
	if a.tenant == n.tenant {
		return n.rank.amongEquals().before(a.requests.topRank())
	}
	return l.tagOf(n.tenant) < a.tag
}

// aheadOf returns how many are served before n, about: of its own level each other tenant has its share while n's is
// served, as if all requests cost the same.
func (b *backlog[T]) aheadOf(n *newcomer) int {
	count, l := b.ahead(n.level+1), b.find(n.level)
	if l == nil {
		return count
	}
	own, weight := 0, b.weigh(n.tenant)
	if a := l.accounts[n.tenant]; a != nil {
		own = a.requests.len()
	}
	count += own
	for _, t := range l.tenants.slots {
		if a := t.item; a.tenant != n.tenant {
			count += min(a.requests.len(), (own+1)*a.weight/weight+1)
		}
	}
	return count
}

// before yields those who are served before n, in order. cost is what each start is charged.
func (p *preview[T]) before(b *backlog[T], n *newcomer, cost func(T) int, yield func(T) bool) {
	for _, l := range b.lanes {
		if l.level < n.level || !p.play(b, l, n, cost, yield) {
			return
		}
	}
}

// play yields those of l before n, and reports whether to go on.
func (p *preview[T]) play(b *backlog[T], l *lane[T], n *newcomer, cost func(T) int, yield func(T) bool) bool {
	p.enter(b, l, n)
	alone := len(p.contenders) == 1
	for len(p.contenders) > 0 {
		c := p.first()
		at, waits := c.next()
		if c.asks && (!waits || !c.account.requests.slots[at].rank.before(n.rank.amongEquals())) {
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
		if n := cost(s); !alone && n != free {
			p.charge(c, n)
		}
	}
	return true
}

// enter makes contenders of the tenants of l, and of n's where that is its level.
func (p *preview[T]) enter(b *backlog[T], l *lane[T], n *newcomer) {
	p.contenders, p.turn = p.contenders[:0], l.turn
	asks := l.level == n.level
	for _, t := range l.tenants.slots {
		if own := asks && t.item.tenant == n.tenant; own || len(p.contenders) < fewTenants {
			p.add(contender[T]{account: t.item, rank: t.rank, weight: t.item.weight, asks: own})
		}
	}
	if a := l.accounts[n.tenant]; asks && (a == nil || a.owing) {
		p.turn++
		p.add(contender[T]{rank: rank{0, l.tagOf(n.tenant), p.turn}, weight: b.weigh(n.tenant), asks: true})
	}
}

// add keeps the memory of an earlier contender.
func (p *preview[T]) add(c contender[T]) {
	i := len(p.contenders)
	if i < cap(p.contenders) {
		c.open = p.contenders[:i+1][i].open[:0]
	}
	if c.account != nil && c.account.requests.len() > 0 {
		c.open = append(c.open, 0)
	}
	p.contenders = append(p.contenders, c)
}

func (p *preview[T]) drop(c *contender[T]) {
	last := len(p.contenders) - 1
	*c, p.contenders[last] = p.contenders[last], *c
	p.contenders = p.contenders[:last]
}

// first returns whose turn it is.
func (p *preview[T]) first() *contender[T] {
	best := &p.contenders[0]
	for i := range p.contenders {
		if c := &p.contenders[i]; c.rank.before(best.rank) {
			best = c
		}
	}
	return best
}

// charge is what lane.charge does.
func (p *preview[T]) charge(c *contender[T], cost int) {
	p.turn++
	c.rank = rank{0, c.rank.arrival + max(1, tag(cost)*tagUnit/tag(c.weight)), p.turn}
}

// next returns where in c.open its next request is.
func (c *contender[T]) next() (slot int, ok bool) {
	if len(c.open) == 0 {
		return 0, false
	}
	slots := c.account.requests.slots
	best := c.open[0]
	for _, i := range c.open {
		if slots[i].rank.before(slots[best].rank) {
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
