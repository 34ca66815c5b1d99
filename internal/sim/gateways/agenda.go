package gateways

import (
	"container/heap"

	"octet/scheduler"
)

// agenda is what is still to happen, earliest first; what was noted for one moment happens in the order it was noted.
type agenda struct {
	entries []entry
	noted   uint64
}

type entry struct {
	at    scheduler.Time
	order uint64
	do    func()
}

// note has do called at a time.
func (a *agenda) note(at scheduler.Time, do func()) {
	a.noted++
	heap.Push(a, entry{at, a.noted, do})
}

// next removes and returns what happens next.
func (a *agenda) next() entry { return heap.Pop(a).(entry) }

// Len implements heap.Interface.
func (a *agenda) Len() int { return len(a.entries) }

// Less implements heap.Interface.
func (a *agenda) Less(i, j int) bool {
	x, y := &a.entries[i], &a.entries[j]
	return x.at < y.at || x.at == y.at && x.order < y.order
}

// Swap implements heap.Interface.
func (a *agenda) Swap(i, j int) { a.entries[i], a.entries[j] = a.entries[j], a.entries[i] }

// Push implements heap.Interface.
func (a *agenda) Push(x any) { a.entries = append(a.entries, x.(entry)) }

// Pop implements heap.Interface.
func (a *agenda) Pop() any {
	last := a.entries[len(a.entries)-1]
	a.entries = a.entries[:len(a.entries)-1]
	return last
}
