package queue

import (
	"errors"
	"fmt"

	"octet/scheduler"
)

// Check proves that every lane is in order, and that each account is where it belongs.
func (b *Backlog[T]) Check() error {
	count, lifting := 0, 0
	for i, l := range b.lanes {
		if err := l.check(); err != nil {
			return err
		}
		if i > 0 && b.lanes[i-1].level <= l.level {
			return fmt.Errorf("%w: level %d behind %d", scheduler.ErrCorrupt, l.level, b.lanes[i-1].level)
		}
		count += l.waiting
		if b.Aging > 0 && l.level < b.Ceiling {
			lifting += l.waiting
		}
	}
	if count != b.count || lifting != b.rising.Len() {
		return fmt.Errorf("%w: %d wait, counted %d; %d will be lifted, queued %d", scheduler.ErrCorrupt, count, b.count,
			lifting,
			b.rising.Len())
	}
	return b.rising.Check()
}

func (l *lane[T]) check() error {
	waiting := 0
	for _, t := range l.tenants.slots {
		a := t.item
		if t.rank != a.rank() || l.accounts[a.tenant] != a || a.tag < l.now || a.owing || a.requests.Len() == 0 {
			return fmt.Errorf("%w: tenant %q is to start at %d (now %d), owing %t", scheduler.ErrCorrupt, a.tenant,
				a.tag, l.now,
				a.owing)
		}
		if err := a.requests.Check(); err != nil {
			return err
		}
		for _, r := range a.requests.slots {
			if p := r.item.entry(); p.lane != l || p.account != a {
				return fmt.Errorf("%w: %d waits elsewhere", scheduler.ErrCorrupt, p.Rank.ID)
			}
		}
		waiting += a.requests.Len()
	}
	if waiting != l.waiting || waiting == 0 || len(l.accounts) != l.tenants.Len()+l.owing.Len() {
		return fmt.Errorf("%w: %d wait at level %d, counted %d", scheduler.ErrCorrupt, waiting, l.level, l.waiting)
	}
	for _, t := range l.owing.slots {
		if a := t.item; a.requests.Len() > 0 || !a.owing || a.tag <= l.now {
			return fmt.Errorf("%w: tenant %q owes nothing at %d (now %d)", scheduler.ErrCorrupt, a.tenant, a.tag, l.now)
		}
	}
	return errors.Join(l.owing.Check(), l.tenants.Check())
}

// Check proves that every parent comes before its children and that every item knows where it is.
func (q *Heap[T]) Check() error {
	for i, s := range q.slots {
		if i > 0 && !q.slots[(i-1)/arity].rank.Before(s.rank) {
			return fmt.Errorf("%w: queue position %d comes before its parent", scheduler.ErrCorrupt, i)
		}
		if at := *s.item.HeapIndex(); at != i {
			return fmt.Errorf("%w: queue position %d thinks it is %d", scheduler.ErrCorrupt, i, at)
		}
	}
	return nil
}
