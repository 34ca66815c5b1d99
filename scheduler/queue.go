package scheduler

// rank is who comes first: the more urgent, then the earlier, then the lower id. A total order over live requests.
type rank struct {
	priority int
	arrival  Time
	id       uint64
}

// before reports whether a is served before b.
func (a rank) before(b rank) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	if a.arrival != b.arrival {
		return a.arrival < b.arrival
	}
	return a.id < b.id
}

// amongEquals is the order of those of one level.
func (a rank) amongEquals() rank { return rank{0, a.arrival, a.id} }

// reversed turns the order round: the last to be served comes first.
func (a rank) reversed() rank { return rank{-a.priority, -a.arrival, ^a.id} }

// queued is what a queue holds: it remembers its own position, so that it can leave from the middle.
type queued interface {
	comparable
	queueIndex() *int // where the queue notes the position; -1 is outside
}

// queue is a priority queue with removal: push, pop and remove are O(log n) and do not allocate in the steady state.
//
// A 4-ary heap (Knuth 5.2.3, exercise 28): half the levels of a binary one, and the children of a node lie side by
// side. Ranks are kept in the heap itself, so that comparing does not touch the requests.
type queue[T queued] struct {
	slots []slot[T]
}

type slot[T queued] struct {
	rank rank
	item T
}

const arity = 4

func (q *queue[T]) len() int { return len(q.slots) }

// top returns the first in order. The queue must not be empty.
func (q *queue[T]) top() T { return q.slots[0].item }

func (q *queue[T]) topRank() rank { return q.slots[0].rank }

func (q *queue[T]) push(r rank, item T) {
	q.slots = append(q.slots, slot[T]{r, item})
	q.up(len(q.slots)-1, slot[T]{r, item})
}

func (q *queue[T]) pop() T {
	item := q.slots[0].item
	q.remove(item)
	return item
}

// remove takes item out, wherever it is. It must be in the queue.
func (q *queue[T]) remove(item T) {
	i := *item.queueIndex()
	*item.queueIndex() = -1
	last := len(q.slots) - 1
	moved := q.slots[last]
	q.slots[last] = slot[T]{}
	q.slots = q.slots[:last]
	if i == last {
		return
	}
	if i > 0 && moved.rank.before(q.slots[(i-1)/arity].rank) {
		q.up(i, moved)
	} else {
		q.down(i, moved)
	}
}

// up puts s at i or above.
func (q *queue[T]) up(i int, s slot[T]) {
	for i > 0 {
		parent := (i - 1) / arity
		if !s.rank.before(q.slots[parent].rank) {
			break
		}
		q.set(i, q.slots[parent])
		i = parent
	}
	q.set(i, s)
}

// down puts s at i or below.
func (q *queue[T]) down(i int, s slot[T]) {
	for {
		first := i*arity + 1
		if first >= len(q.slots) {
			break
		}
		best := first
		for child := first + 1; child < min(first+arity, len(q.slots)); child++ {
			if q.slots[child].rank.before(q.slots[best].rank) {
				best = child
			}
		}
		if !q.slots[best].rank.before(s.rank) {
			break
		}
		q.set(i, q.slots[best])
		i = best
	}
	q.set(i, s)
}

func (q *queue[T]) set(i int, s slot[T]) {
	q.slots[i] = s
	*s.item.queueIndex() = i
}
