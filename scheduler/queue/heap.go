package queue

// Item is what a Heap holds: it remembers its own position, so that it can leave from the middle.
type Item interface {
	comparable
	HeapIndex() *int // where the heap notes the position; -1 is outside
}

// Heap is a priority queue with removal: Push, Pop and Remove are O(log n) and do not allocate in the steady state.
//
// It is 4-ary (Knuth 5.2.3, exercise 28): half the levels of a binary one, and the children of a node lie side by side.
// Ranks are kept in the heap itself, so that comparing does not touch the requests.
type Heap[T Item] struct {
	slots []slot[T]
}

type slot[T Item] struct {
	rank Rank
	item T
}

const arity = 4

// Len returns how many items are in the heap.
func (q *Heap[T]) Len() int { return len(q.slots) }

// Top returns the first in order. The heap must not be empty.
func (q *Heap[T]) Top() T { return q.slots[0].item }

// TopRank returns the rank of the first. The heap must not be empty.
func (q *Heap[T]) TopRank() Rank { return q.slots[0].rank }

// Push adds item.
func (q *Heap[T]) Push(r Rank, item T) {
	q.slots = append(q.slots, slot[T]{r, item})
	q.up(len(q.slots)-1, slot[T]{r, item})
}

// Pop takes the first out.
func (q *Heap[T]) Pop() T {
	item := q.slots[0].item
	q.Remove(item)
	return item
}

// Remove takes item out, wherever it is. It must be in the heap.
func (q *Heap[T]) Remove(item T) {
	i := *item.HeapIndex()
	*item.HeapIndex() = -1
	last := len(q.slots) - 1
	moved := q.slots[last]
	q.slots[last] = slot[T]{}
	q.slots = q.slots[:last]
	if i == last {
		return
	}
	if i > 0 && moved.rank.Before(q.slots[(i-1)/arity].rank) {
		q.up(i, moved)
	} else {
		q.down(i, moved)
	}
}

// up puts s at i or above.
func (q *Heap[T]) up(i int, s slot[T]) {
	for i > 0 {
		parent := (i - 1) / arity
		if !s.rank.Before(q.slots[parent].rank) {
			break
		}
		q.set(i, q.slots[parent])
		i = parent
	}
	q.set(i, s)
}

// down puts s at i or below.
func (q *Heap[T]) down(i int, s slot[T]) {
	for {
		first := i*arity + 1
		if first >= len(q.slots) {
			break
		}
		best := first
		for child := first + 1; child < min(first+arity, len(q.slots)); child++ {
			if q.slots[child].rank.Before(q.slots[best].rank) {
				best = child
			}
		}
		if !q.slots[best].rank.Before(s.rank) {
			break
		}
		q.set(i, q.slots[best])
		i = best
	}
	q.set(i, s)
}

func (q *Heap[T]) set(i int, s slot[T]) {
	q.slots[i] = s
	*s.item.HeapIndex() = i
}
