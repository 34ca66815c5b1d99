package gate

import (
	"octet/scheduler"
	"octet/scheduler/queue"
)

// leaver is a waiter in the order in which waiters leave a queue that is full.
type leaver struct{ w *waiter }

func (l leaver) HeapIndex() *int { return &l.w.tail }

// displaces reports whether one of place takes the place in the queue of somebody strictly less urgent.
func (g *Gate) displaces(place queue.Rank) bool {
	return g.maxWaiting > 0 && g.leaving.Len() > 0 && g.leaving.Top().w.Rank.Priority < place.Priority
}

// displace makes a place in a full queue for one who was let wait: the last of the least urgent is refused, where that
// is somebody less urgent. Who takes a place in the engine from others or resumes may be one too many. Caller holds
// gateMu.
func (g *Gate) displace(place queue.Rank, now scheduler.Time) {
	if g.waiting.Len() >= g.maxWaiting && g.displaces(place) {
		g.refuse(g.leaving.Top().w, scheduler.ErrQueueFull, now)
	}
}

// dequeue takes w out of the queue. Caller holds gateMu.
func (g *Gate) dequeue(w *waiter) {
	g.waiting.Remove(w)
	if w.tail >= 0 {
		g.leaving.Remove(leaver{w})
	}
}
