package scheduler

import (
	"iter"
	"slices"
	"time"
)

// backlog is who waits for an engine.
//
//	level 2 ▶ tenants a 300 · b 420 (the tag of its next start) ▶ each by arrival
//	level 0 ▶ tenants a  80 · c 190 …
//
// A level is a priority, lifted by age. Within one, tenants share by start-time fair queueing (Goyal, Vin and Cheng
// 1996) over what requests cost: the tenant with the least tag is next, and a start moves its tag on by the request's
// cost over the tenant's weight. Who comes begins at the tag of the last start, so that nothing is saved up while a
// tenant is away, and what it owes is kept until the others have caught up. There is no quantum, so a tenant of small
// requests is as well off beside large ones as beside its like:
//
//   - Between two tenants that both have somebody waiting, costs started over weight differ by no more than the largest
//     request of each, over its weight.
//   - A tenant below its share, that is without a debt, waits for at most one request of each other tenant of its
//     level.
//
// All is O(log waiting).
type backlog[T seated[T]] struct {
	count   int
	aging   time.Duration // waited for each level; 0 is none
	ceiling int           // no level above it is reached by waiting
	rising  queue[riser[T]]
	lanes   []*lane[T] // highest level first; somebody waits in each

	weight func(tenant string) int // at least 1 is used; nil is 1
}

// seated is what can wait: it has a place in a backlog.
type seated[T seated[T]] interface {
	comparable
	place() *seat[T]
	queueIndex() *int // in its account
}

// seat is where one request waits.
type seat[T seated[T]] struct {
	rank    rank // its own priority, whatever level age has lifted it to
	tenant  string
	at      int         // position among its tenant's waiting; -1 while it does not wait
	lifting int         // position among those that age will lift; -1 is outside
	lane    *lane[T]    // nil while it does not wait
	account *account[T] // nil while it does not wait
}

func newSeat[T seated[T]](r rank, tenant string) seat[T] {
	return seat[T]{rank: r, tenant: tenant, at: -1, lifting: -1}
}

func (p *seat[T]) place() *seat[T] { return p }

func (p *seat[T]) queueIndex() *int { return &p.at }

// riser is who waits in the order of the next lift.
type riser[T seated[T]] struct{ who T }

func (r riser[T]) queueIndex() *int { return &r.who.place().lifting }

func (b *backlog[T]) len() int { return b.count }

// top returns who is served next. Somebody must wait.
func (b *backlog[T]) top() T { return b.lanes[0].tenants.top().requests.top() }

// ahead returns how many wait at priority or a higher level.
func (b *backlog[T]) ahead(priority int) (n int) {
	for _, l := range b.lanes {
		if l.level < priority {
			break
		}
		n += l.waiting
	}
	return n
}

// push queues s at the level that it has at now.
func (b *backlog[T]) push(s T, now Time) {
	b.count++
	b.enter(s, b.level(s.place().rank, now))
}

// level returns the priority of r, lifted by age.
func (b *backlog[T]) level(r rank, now Time) int {
	waited := now - r.arrival
	if waited < b.aging || b.aging == 0 || r.priority >= b.ceiling {
		return r.priority
	}
	return min(b.ceiling, r.priority+int(waited/b.aging))
}

// enter puts s into the lane of level, and has it lifted when its time comes.
func (b *backlog[T]) enter(s T, level int) {
	l, p := b.lane(level), s.place()
	a := l.account(b, p.tenant)
	l.waiting++
	p.lane, p.account = l, a
	a.requests.push(p.rank.amongEquals(), s)
	l.settle(a)
	b.rise(s)
}

// remove takes s out, wherever it is.
func (b *backlog[T]) remove(s T) {
	b.count--
	b.leave(s)
}

func (b *backlog[T]) leave(s T) {
	p := s.place()
	if p.lifting >= 0 {
		b.rising.remove(riser[T]{s})
	}
	l, a := p.lane, p.account
	a.requests.remove(s)
	l.waiting--
	p.lane, p.account = nil, nil
	l.settle(a)
	if l.waiting == 0 {
		b.shut(l)
	}
}

// charge has the tenant of s pay what it costs: s, which still waits, is about to start.
func (b *backlog[T]) charge(s T, cost int) {
	p := s.place()
	p.lane.charge(p.account, cost)
}

// bill is charge for one that starts past those who wait at its level.
func (b *backlog[T]) bill(n *newcomer, cost int) {
	if l := b.find(n.level); l != nil {
		l.charge(l.account(b, n.tenant), cost)
	}
}

// amend changes what a tenant has paid for at a level, where others still wait: a request cost so much more, or less,
// than was thought when it started. Nobody gets ahead of the present by that.
func (b *backlog[T]) amend(level int, tenant string, more int) {
	if l := b.find(level); l != nil && more != 0 {
		a := l.account(b, tenant)
		l.move(a, max(l.now, a.tag+a.worth(more)))
	}
}

// age changes how fast age lifts. Levels that were reached stay.
func (b *backlog[T]) age(aging time.Duration) {
	if aging == b.aging {
		return
	}
	b.aging = aging
	for b.rising.len() > 0 {
		b.rising.remove(b.rising.top())
	}
	for s := range b.all() {
		b.rise(s)
	}
}

// rise notes when age will lift s.
func (b *backlog[T]) rise(s T) {
	p := s.place()
	if b.aging > 0 && p.lane.level < b.ceiling {
		due := p.rank.arrival + Time(p.lane.level-p.rank.priority+1)*b.aging
		b.rising.push(rank{0, due, p.rank.id}, riser[T]{s})
	}
}

// rises reports whether somebody has waited long enough to be lifted.
func (b *backlog[T]) rises(now Time) bool {
	return b.rising.len() > 0 && b.rising.topRank().arrival <= now
}

// lift moves up whoever has waited long enough for it.
func (b *backlog[T]) lift(now Time) {
	for b.rises(now) {
		s := b.rising.top().who
		level := s.place().lane.level + 1
		b.leave(s)
		b.enter(s, level)
	}
}

// find returns the lane of level; nil where nobody waits there.
func (b *backlog[T]) find(level int) *lane[T] {
	for _, l := range b.lanes {
		if l.level == level {
			return l
		}
	}
	return nil
}

// lane returns the lane of level, which is new where nobody waits there.
func (b *backlog[T]) lane(level int) *lane[T] {
	i, ok := slices.BinarySearchFunc(b.lanes, level, func(l *lane[T], level int) int { return level - l.level })
	if !ok {
		b.lanes = slices.Insert(b.lanes, i, &lane[T]{level: level, accounts: make(map[string]*account[T])})
	}
	return b.lanes[i]
}

// shut takes out a lane in which nobody waits any more: what is owed there is owed to nobody.
func (b *backlog[T]) shut(l *lane[T]) {
	i := slices.Index(b.lanes, l)
	b.lanes = slices.Delete(b.lanes, i, i+1)
}

// weigh returns the weight of a tenant.
func (b *backlog[T]) weigh(tenant string) int {
	if b.weight == nil {
		return 1
	}
	return max(1, b.weight(tenant))
}

// pop takes the last of list.
func pop[T any](list *[]*T) (*T, bool) {
	n := len(*list)
	if n == 0 {
		return nil, false
	}
	last := (*list)[n-1]
	*list = (*list)[:n-1]
	return last, true
}

// all yields everybody, in no order.
func (b *backlog[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, l := range b.lanes {
			for _, t := range l.tenants.slots {
				for _, r := range t.item.requests.slots {
					if !yield(r.item) {
						return
					}
				}
			}
		}
	}
}
