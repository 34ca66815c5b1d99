package replay

import (
	"cmp"
	"container/heap"
	"time"

	"octet/scheduler"
)

// arrival is a request that comes at a time that is known.
type arrival struct {
	at scheduler.Time
	i  int
}

// arrivals are those to come, the next one first: a heap.
type arrivals []arrival

// Len implements heap.Interface.
func (a arrivals) Len() int { return len(a) }

// Less implements heap.Interface.
func (a arrivals) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].at, a[j].at), cmp.Compare(a[i].i, a[j].i)) < 0
}

// Swap implements heap.Interface.
func (a arrivals) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push implements heap.Interface.
func (a *arrivals) Push(x any) { *a = append(*a, x.(arrival)) }

// Pop implements heap.Interface.
func (a *arrivals) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// take removes the next one and returns its request.
func (a *arrivals) take() int { return heap.Pop(a).(arrival).i }

// expect makes the lives, and lets those arrive that wait for no other.
func (r *run) expect() {
	r.lives = make([]life, len(r.trace.Requests))
	for i := range r.lives {
		q := &r.trace.Requests[i]
		r.lives[i].Request, r.lives[i].left = q, q.Output
		if q.After > 0 {
			r.lives[q.After-1].next = i + 1
			continue
		}
		r.lives[i].at = time.Duration(float64(q.At) / r.config.Rate)
		heap.Push(&r.arrivals, arrival{r.lives[i].at, i})
	}
}

// over lets the turn come that waited for l.
func (r *run) over(l *life) {
	if l.next > 0 {
		next := &r.lives[l.next-1]
		next.at = r.now + next.Gap
		heap.Push(&r.arrivals, arrival{next.at, l.next - 1})
	}
}

// refuse ends a request that no replica takes.
func (r *run) refuse(l *life) {
	l.refused = true
	r.over(l)
}
