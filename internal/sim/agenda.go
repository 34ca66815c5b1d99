package sim

import (
	"container/heap"

	"octet/scheduler"
)

// agenda is what is still to happen, earliest first; what was noted for one moment happens in the order it was noted.
type agenda[T any] struct{ due due[T] }

type entry[T any] struct {
	at    scheduler.Time
	order uint64
	what  T
}

func (a *agenda[T]) note(at scheduler.Time, what T) {
	a.due.noted++
	heap.Push(&a.due, entry[T]{at, a.due.noted, what})
}

// next returns the earliest entry that is not after now.
func (a *agenda[T]) next(now scheduler.Time) (at scheduler.Time, what T, ok bool) {
	if len(a.due.entries) == 0 || a.due.entries[0].at > now {
		return 0, what, false
	}
	e := heap.Pop(&a.due).(entry[T])
	return e.at, e.what, true
}

// first returns when the earliest entry is due; false if the agenda is empty.
func (a *agenda[T]) first() (scheduler.Time, bool) {
	if len(a.due.entries) == 0 {
		return 0, false
	}
	return a.due.entries[0].at, true
}

// due implements heap.Interface.
type due[T any] struct {
	entries []entry[T]
	noted   uint64
}

func (d *due[T]) Len() int { return len(d.entries) }
func (d *due[T]) Less(i, j int) bool {
	a, b := &d.entries[i], &d.entries[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}
func (d *due[T]) Swap(i, j int) { d.entries[i], d.entries[j] = d.entries[j], d.entries[i] }
func (d *due[T]) Push(x any)    { d.entries = append(d.entries, x.(entry[T])) }
func (d *due[T]) Pop() any {
	last := d.entries[len(d.entries)-1]
	d.entries = d.entries[:len(d.entries)-1]
	return last
}
