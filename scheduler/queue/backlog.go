package queue

import (
	"iter"
	"slices"
	"time"

	"octet/scheduler"
)

// Backlog is the requests that wait for one engine.
//
//	level 2 ▶ tenants a 300 · b 420 (the tag of its next start) ▶ each by arrival
//	level 0 ▶ tenants a  80 · c 190 …
//
// A level is a priority, lifted by age. Within one, tenants share by start-time fair queueing (Goyal, Vin and Cheng
// 1996) over what requests cost: the tenant with the least tag is next, and a start moves its tag on by the request's
// cost over the tenant's weight. A tenant that returns begins at the tag of the last start, so that nothing is saved up
// while it is away. What it owes is kept until the others have caught up. There is no quantum, so a tenant of small
// requests is as well off beside large ones as beside its like:
//
//   - Between two tenants that both have requests waiting, costs started over weight differ by no more than the largest
//     request of each, over its weight.
//   - A tenant below its share, that is without a debt, waits for at most one request of each other tenant of its
//     level.
//
// All is O(log waiting).
type Backlog[T Waiting[T]] struct {
	count   int
	Aging   time.Duration // waited for each level; 0 means no aging
	Ceiling int           // no level above it is reached by waiting
	rising  Heap[riser[T]]
	lanes   []*lane[T] // highest level first; none is empty

	Weight func(tenant string) int // at least 1 is used; without it every weight is 1
}

// Waiting is what a Backlog holds: it embeds an Entry.
type Waiting[T Waiting[T]] interface {
	comparable
	entry() *Entry[T]
	HeapIndex() *int // in its account
}

// Entry is the part of a request that a Backlog keeps.
type Entry[T Waiting[T]] struct {
	Rank    Rank // its own priority, whatever level age has lifted it to
	Tenant  string
	at      int         // position among its tenant's waiting; -1 while it does not wait
	lifting int         // position among those that age will lift; -1 is outside
	lane    *lane[T]    // nil while it does not wait
	account *account[T] // nil while it does not wait
}

// NewEntry returns an entry that does not wait.
func NewEntry[T Waiting[T]](r Rank, tenant string) Entry[T] {
	return Entry[T]{Rank: r, Tenant: tenant, at: -1, lifting: -1}
}

func (p *Entry[T]) entry() *Entry[T] { return p }

// HeapIndex implements Item, in its account.
func (p *Entry[T]) HeapIndex() *int { return &p.at }

// Queued reports whether the request waits.
func (p *Entry[T]) Queued() bool { return p.at >= 0 }

// Level returns the priority that age has lifted it to. It must wait.
func (p *Entry[T]) Level() int { return p.lane.level }

// riser is a waiting request, in the order of the next lift.
type riser[T Waiting[T]] struct{ item T }

func (r riser[T]) HeapIndex() *int { return &r.item.entry().lifting }

// Len returns how many wait.
func (b *Backlog[T]) Len() int { return b.count }

// Top returns the request that is served next. The backlog must not be empty.
func (b *Backlog[T]) Top() T { return b.lanes[0].tenants.Top().requests.Top() }

// Ahead returns how many wait at priority or a higher level.
func (b *Backlog[T]) Ahead(priority int) (n int) {
	for _, l := range b.lanes {
		if l.level < priority {
			break
		}
		n += l.waiting
	}
	return n
}

// Level counts the requests that wait at one.
type Level struct {
	Priority int
	Waiting  int
}

// Levels returns how many wait at each level, the highest first; nil if none wait.
func (b *Backlog[T]) Levels() (all []Level) {
	for _, l := range b.lanes {
		all = append(all, Level{l.level, l.waiting})
	}
	return all
}

// Push queues s at the level that it has at now.
func (b *Backlog[T]) Push(s T, now scheduler.Time) {
	b.count++
	b.enter(s, b.Level(s.entry().Rank, now))
}

// Level returns the priority of r, lifted by age.
func (b *Backlog[T]) Level(r Rank, now scheduler.Time) int {
	waited := now - r.Arrival
	if waited < b.Aging || b.Aging == 0 || r.Priority >= b.Ceiling {
		return r.Priority
	}
	return min(b.Ceiling, r.Priority+int(waited/b.Aging))
}

// enter puts s into the lane of level, and has it lifted when its time comes.
func (b *Backlog[T]) enter(s T, level int) {
	l, p := b.lane(level), s.entry()
	a := l.account(b, p.Tenant)
	l.waiting++
	p.lane, p.account = l, a
	a.requests.Push(p.Rank.amongEquals(), s)
	l.settle(a)
	b.rise(s)
}

// Remove takes s out, wherever it is.
func (b *Backlog[T]) Remove(s T) {
	b.count--
	b.leave(s)
}

func (b *Backlog[T]) leave(s T) {
	p := s.entry()
	if p.lifting >= 0 {
		b.rising.Remove(riser[T]{s})
	}
	l, a := p.lane, p.account
	a.requests.Remove(s)
	l.waiting--
	p.lane, p.account = nil, nil
	l.settle(a)
	if l.waiting == 0 {
		b.shut(l)
	}
}

// Charge has the tenant of s pay what it costs: s, which still waits, is about to start.
func (b *Backlog[T]) Charge(s T, cost int) {
	p := s.entry()
	p.lane.charge(p.account, cost)
}

// Bill is Charge for a request that starts past those that wait at its level.
func (b *Backlog[T]) Bill(n *Newcomer, cost int) {
	if l := b.find(n.Level); l != nil {
		l.charge(l.account(b, n.Tenant), cost)
	}
}

// Amend changes what a tenant has paid for at a level, if others still wait: a request cost so much more, or less, than
// was thought when it started. The tenant does not get ahead of the present by that.
func (b *Backlog[T]) Amend(level int, tenant string, more int) {
	if l := b.find(level); l != nil && more != 0 {
		a := l.account(b, tenant)
		l.move(a, max(l.now, a.tag+a.worth(more)))
	}
}

// SetAging changes how fast age lifts. Levels that were reached stay.
func (b *Backlog[T]) SetAging(aging time.Duration) {
	if aging == b.Aging {
		return
	}
	b.Aging = aging
	for b.rising.Len() > 0 {
		b.rising.Remove(b.rising.Top())
	}
	for s := range b.All() {
		b.rise(s)
	}
}

// rise notes when age will lift s.
func (b *Backlog[T]) rise(s T) {
	p := s.entry()
	if b.Aging > 0 && p.lane.level < b.Ceiling {
		due := p.Rank.Arrival + scheduler.Time(p.lane.level-p.Rank.Priority+1)*b.Aging
		b.rising.Push(Rank{0, due, p.Rank.ID}, riser[T]{s})
	}
}

// Rises reports whether a request has waited long enough to be lifted.
func (b *Backlog[T]) Rises(now scheduler.Time) bool {
	return b.rising.Len() > 0 && b.rising.TopRank().Arrival <= now
}

// Lift moves up the requests that have waited long enough for it.
func (b *Backlog[T]) Lift(now scheduler.Time) {
	for b.Rises(now) {
		s := b.rising.Top().item
		level := s.entry().lane.level + 1
		b.leave(s)
		b.enter(s, level)
	}
}

// find returns the lane of level; nil if no request waits there.
func (b *Backlog[T]) find(level int) *lane[T] {
	for _, l := range b.lanes {
		if l.level == level {
			return l
		}
	}
	return nil
}

// lane returns the lane of level, and makes it if no request waits there.
func (b *Backlog[T]) lane(level int) *lane[T] {
	i, ok := slices.BinarySearchFunc(b.lanes, level, func(l *lane[T], level int) int { return level - l.level })
	if !ok {
		b.lanes = slices.Insert(b.lanes, i, &lane[T]{level: level, accounts: make(map[string]*account[T])})
	}
	return b.lanes[i]
}

// shut takes out a lane that became empty. What tenants owe there is forgotten: no other tenant is left to be paid.
func (b *Backlog[T]) shut(l *lane[T]) {
	i := slices.Index(b.lanes, l)
	b.lanes = slices.Delete(b.lanes, i, i+1)
}

// weigh returns the weight of a tenant.
func (b *Backlog[T]) weigh(tenant string) int {
	if b.Weight == nil {
		return 1
	}
	return max(1, b.Weight(tenant))
}

// All yields every waiting request, in no order.
func (b *Backlog[T]) All() iter.Seq[T] {
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
