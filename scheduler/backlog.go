package scheduler

import (
	"iter"
	"slices"
	"time"
)

// backlog is who waits for an engine.
//
//	level 2 ▶ tenants a 300 · b 120 (tokens left in this round) ▶ each by arrival
//	level 0 ▶ tenants a  80 · c -90 …
//
// A level is a priority, lifted by age. Within one, tenants share by deficit round robin (Shreedhar and Varghese 1995)
// over the tokens that the prefix cache did not save: in each round a tenant may start weight × quantum tokens' worth.
// What its last request takes beyond that is owed and paid by sitting rounds out. So between two tenants that both have
// somebody waiting, tokens started over weight differ by less than two quanta and two largest requests, each over its
// weight, and a tenant waits no more than one turn of each other tenant for each of its own.
//
// All is O(log waiting): the rounds in which nobody is served are skipped, not played.
type backlog[T seated[T]] struct {
	count   int
	aging   time.Duration // waited for each level; 0 is none
	ceiling int           // no level above it is reached by waiting
	rising  queue[riser[T]]
	lanes   []*lane[T] // highest level first; somebody waits in each

	quantum int                     // tokens a round for weight 1
	weight  func(tenant string) int // at least 1 is used; nil is 1

	spareLanes    []*lane[T]
	spareAccounts []*account[T]
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

// lane is one level.
type lane[T seated[T]] struct {
	level    int
	tenants  queue[*account[T]] // by round, then by turn; the first has somebody waiting
	accounts map[string]*account[T]
	waiting  int
	round    int64  // of the first tenant
	turn     uint64 // of the last that came, or spent its share
}

// account is one tenant in a lane. One that has nobody waiting is kept until its turn comes, so that leaving pays no debt.
type account[T seated[T]] struct {
	tenant   string
	share    int   // tokens a round
	deficit  int   // tokens left in its round; 1 to share
	round    int64 // in which it is served next
	turn     uint64
	at       int      // in the lane
	requests queue[T] // by arrival
}

func (a *account[T]) queueIndex() *int { return &a.at }

func (a *account[T]) rank() rank { return rank{0, Time(a.round), a.turn} }

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
	a := l.accounts[p.tenant]
	if a == nil {
		a = b.open(l, p.tenant)
	}
	l.waiting++
	p.lane, p.account = l, a
	a.requests.push(p.rank.amongEquals(), s)
	l.settle(b)
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
	l := p.lane
	p.account.requests.remove(s)
	l.waiting--
	p.lane, p.account = nil, nil
	l.settle(b)
	if l.waiting == 0 {
		i := slices.Index(b.lanes, l)
		b.lanes = slices.Delete(b.lanes, i, i+1)
		b.spareLanes = append(b.spareLanes, l)
	}
}

// charge has the tenant of s pay for tokens: s, which still waits, is about to start.
func (b *backlog[T]) charge(s T, tokens int) {
	a, l := s.place().account, s.place().lane
	if a.deficit -= tokens; a.deficit > 0 {
		return
	}
	rounds := -a.deficit/a.share + 1
	a.deficit += rounds * a.share
	a.round += int64(rounds)
	l.tenants.remove(a)
	l.line(a)
	l.settle(b)
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

// line gives a the last turn of its round.
func (l *lane[T]) line(a *account[T]) {
	l.turn++
	a.turn = l.turn
	l.tenants.push(a.rank(), a)
}

// settle closes accounts whose turn has come and for whom nobody waits.
func (l *lane[T]) settle(b *backlog[T]) {
	for l.tenants.len() > 0 {
		a := l.tenants.top()
		if a.requests.len() > 0 {
			l.round = a.round
			return
		}
		l.tenants.remove(a)
		delete(l.accounts, a.tenant)
		b.spareAccounts = append(b.spareAccounts, a)
	}
}

// lane returns the lane of level, which is new where nobody waits there.
func (b *backlog[T]) lane(level int) *lane[T] {
	i, ok := slices.BinarySearchFunc(b.lanes, level, func(l *lane[T], level int) int { return level - l.level })
	if !ok {
		l, reused := pop(&b.spareLanes)
		if !reused {
			l = &lane[T]{accounts: make(map[string]*account[T])}
		}
		l.level, l.round, l.turn = level, 0, 0
		b.lanes = slices.Insert(b.lanes, i, l)
	}
	return b.lanes[i]
}

// open gives a tenant a full share of the present round.
func (b *backlog[T]) open(l *lane[T], tenant string) *account[T] {
	a, reused := pop(&b.spareAccounts)
	if !reused {
		a = &account[T]{}
	}
	a.tenant, a.share, a.round = tenant, b.share(tenant), l.round
	a.deficit = a.share
	l.accounts[tenant] = a
	l.line(a)
	return a
}

// share returns the tokens of a tenant's round.
func (b *backlog[T]) share(tenant string) int {
	if b.weight == nil {
		return b.quantum
	}
	return max(1, b.weight(tenant)) * b.quantum
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
