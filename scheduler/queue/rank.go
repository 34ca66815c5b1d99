package queue

import "octet/scheduler"

// Rank is an order of service: the more urgent first, then the earlier, then the lower id. It is total over live
// requests.
type Rank struct {
	Priority int
	Arrival  scheduler.Time
	ID       uint64
}

// Before reports whether a is served before b.
func (a Rank) Before(b Rank) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	if a.Arrival != b.Arrival {
		return a.Arrival < b.Arrival
	}
	return a.ID < b.ID
}

// amongEquals is the rank within one level.
func (a Rank) amongEquals() Rank { return Rank{0, a.Arrival, a.ID} }

// Reversed turns the order round: the last to be served comes first.
func (a Rank) Reversed() Rank { return Rank{-a.Priority, -a.Arrival, ^a.ID} }
