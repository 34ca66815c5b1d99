package scheduler

import (
	"iter"
	"slices"
	"time"
)

// backlog is who waits for a Core.
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
type backlog struct {
	quantum int                     // tokens a round for weight 1
	weight  func(tenant string) int // at least 1 is used; nil is 1
	aging   time.Duration           // waited for each level; 0 is none
	ceiling int                     // no level above it is reached by waiting

	lanes  []*lane // highest level first; somebody waits in each
	rising queue[riser]
	count  int

	spareLanes    []*lane
	spareAccounts []*account
}

// lane is one level.
type lane struct {
	level    int
	tenants  queue[*account] // by round, then by turn; the first has somebody waiting
	accounts map[string]*account
	waiting  int
	round    int64  // of the first tenant
	turn     uint64 // of the last that came, or spent its share
}

// account is one tenant in a lane. One that has nobody waiting is kept until its turn comes, so that leaving pays no debt.
type account struct {
	tenant   string
	share    int   // tokens a round
	deficit  int   // tokens left in its round; 1 to share
	round    int64 // in which it is served next
	turn     uint64
	at       int              // in the lane
	requests queue[*sequence] // by arrival
}

func (a *account) queueIndex() *int { return &a.at }

func (a *account) rank() rank { return rank{0, Time(a.round), a.turn} }

// riser is a waiting sequence in the order of the next lift.
type riser struct{ *sequence }

func (r riser) queueIndex() *int { return &r.lifting }

func (b *backlog) len() int { return b.count }

// top returns who is served next. Somebody must wait.
func (b *backlog) top() *sequence { return b.lanes[0].tenants.top().requests.top() }

// ahead returns how many wait at priority or a higher level.
func (b *backlog) ahead(priority int) (n int) {
	for _, l := range b.lanes {
		if l.level < priority {
			break
		}
		n += l.waiting
	}
	return n
}

// push queues s at the level that it has at now.
func (b *backlog) push(s *sequence, now Time) {
	level := s.req.Priority
	if b.aging > 0 && level < b.ceiling {
		level = min(b.ceiling, level+int(max(0, now-s.req.Arrival)/b.aging))
	}
	b.count++
	b.enter(s, level)
}

// enter puts s into the lane of level, and has it lifted when its time comes.
func (b *backlog) enter(s *sequence, level int) {
	l := b.lane(level)
	a := l.accounts[s.req.Tenant]
	if a == nil {
		a = b.open(l, s.req.Tenant)
	}
	l.waiting++
	s.lane, s.account = l, a
	a.requests.push(rank{0, s.req.Arrival, s.req.ID}, s)
	l.settle(b)
	if b.aging > 0 && level < b.ceiling {
		due := s.req.Arrival + Time(level-s.req.Priority+1)*b.aging
		b.rising.push(rank{0, due, s.req.ID}, riser{s})
	}
}

// remove takes s out, wherever it is.
func (b *backlog) remove(s *sequence) {
	b.count--
	b.leave(s)
}

func (b *backlog) leave(s *sequence) {
	if s.lifting >= 0 {
		b.rising.remove(riser{s})
	}
	l := s.lane
	s.account.requests.remove(s)
	l.waiting--
	s.lane, s.account = nil, nil
	l.settle(b)
	if l.waiting == 0 {
		i := slices.Index(b.lanes, l)
		b.lanes = slices.Delete(b.lanes, i, i+1)
		b.spareLanes = append(b.spareLanes, l)
	}
}

// charge has the tenant of s pay for tokens: s, which still waits, is about to start.
func (b *backlog) charge(s *sequence, tokens int) {
	a, l := s.account, s.lane
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

// lift moves up whoever has waited long enough for it.
func (b *backlog) lift(now Time) {
	for b.rising.len() > 0 && b.rising.topRank().arrival <= now {
		s := b.rising.top().sequence
		level := s.lane.level + 1
		b.leave(s)
		b.enter(s, level)
	}
}

// line gives a the last turn of its round.
func (l *lane) line(a *account) {
	l.turn++
	a.turn = l.turn
	l.tenants.push(a.rank(), a)
}

// settle closes accounts whose turn has come and for whom nobody waits.
func (l *lane) settle(b *backlog) {
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
func (b *backlog) lane(level int) *lane {
	i, ok := slices.BinarySearchFunc(b.lanes, level, func(l *lane, level int) int { return level - l.level })
	if !ok {
		l, reused := pop(&b.spareLanes)
		if !reused {
			l = &lane{accounts: make(map[string]*account)}
		}
		l.level, l.round, l.turn = level, 0, 0
		b.lanes = slices.Insert(b.lanes, i, l)
	}
	return b.lanes[i]
}

// open gives a tenant a full share of the present round.
func (b *backlog) open(l *lane, tenant string) *account {
	a, reused := pop(&b.spareAccounts)
	if !reused {
		a = &account{}
	}
	weight := 1
	if b.weight != nil {
		weight = max(1, b.weight(tenant))
	}
	a.tenant, a.share, a.round = tenant, weight*b.quantum, l.round
	a.deficit = a.share
	l.accounts[tenant] = a
	l.line(a)
	return a
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
func (b *backlog) all() iter.Seq[*sequence] {
	return func(yield func(*sequence) bool) {
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
