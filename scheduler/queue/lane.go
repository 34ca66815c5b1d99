package queue

import "octet/scheduler"

// tag is a moment of a lane's virtual time, which starts move on: what a tenant has started, over its weight.
type tag = scheduler.Time

// tagUnit is what a cost of 1 moves a tenant of weight 1.
const tagUnit = 1 << 16

// lane is one level. Each account is in one of its queues.
type lane[T Waiting[T]] struct {
	level    int
	tenants  Heap[*account[T]] // with requests waiting, by tag, then by turn
	owing    Heap[*account[T]] // without, whose tag is beyond now: leaving pays no debt
	accounts map[string]*account[T]
	waiting  int
	now      tag    // of the last start
	turn     uint64 // of the last that came, or started
}

// account is one tenant in a lane.
type account[T Waiting[T]] struct {
	tenant   string
	weight   int
	tag      tag // of its next start; never before the lane's now
	turn     uint64
	at       int     // in the lane's queue; -1 is in neither
	owing    bool    // which one that is
	requests Heap[T] // by arrival
}

func (a *account[T]) HeapIndex() *int { return &a.at }

func (a *account[T]) rank() Rank { return Rank{0, a.tag, a.turn} }

// worth is by how much a cost moves a's tag.
func (a *account[T]) worth(cost int) tag { return tag(cost) * tagUnit / tag(a.weight) }

// account returns the account of a tenant. If the lane has none it makes one that owes nothing. A new account is in
// neither queue: settle puts it there.
func (l *lane[T]) account(b *Backlog[T], tenant string) *account[T] {
	if a := l.accounts[tenant]; a != nil {
		return a
	}
	a := &account[T]{tenant: tenant, weight: b.weigh(tenant), tag: l.now, at: -1}
	l.accounts[tenant] = a
	return a
}

// tagOf returns where the next start of a tenant stands. A tenant without requests stands where one that comes now
// would.
func (l *lane[T]) tagOf(tenant string) tag {
	if a := l.accounts[tenant]; a != nil {
		return a.tag
	}
	return l.now
}

// charge has a pay for a start, and brings the lane's time to it. If a was not the next to start, the time goes to the
// next instead. A start moves a on, whatever it costs.
func (l *lane[T]) charge(a *account[T], cost int) {
	l.now = max(l.now, min(a.tag, l.tenants.TopRank().Arrival))
	l.move(a, a.tag+max(1, a.worth(cost)))
	for l.owing.Len() > 0 && l.owing.TopRank().Arrival <= l.now {
		l.close(l.owing.Pop())
	}
}

// move gives a another tag, and the last turn among those that have the same.
func (l *lane[T]) move(a *account[T], to tag) {
	l.take(a)
	l.turn++
	a.tag, a.turn = to, l.turn
	l.settle(a)
}

// settle puts a where it belongs now. Its turn begins anew when a request waits for it again.
func (l *lane[T]) settle(a *account[T]) {
	waits := a.requests.Len() > 0
	if a.at >= 0 && waits != a.owing {
		return
	}
	l.take(a)
	switch {
	case waits:
		l.turn++
		a.turn = l.turn
		l.tenants.Push(a.rank(), a)
	case a.tag > l.now:
		a.owing = true
		l.owing.Push(a.rank(), a)
	default:
		l.close(a)
	}
}

// take takes a out of its queue.
func (l *lane[T]) take(a *account[T]) {
	switch {
	case a.at < 0:
	case a.owing:
		l.owing.Remove(a)
	default:
		l.tenants.Remove(a)
	}
	a.owing = false
}

// close forgets a, which is in neither queue.
func (l *lane[T]) close(a *account[T]) {
	a.owing = false
	delete(l.accounts, a.tenant)
}
