package gate

import (
	"math"
	"time"

	"octet/scheduler"
)

// reservedShare is the part of the places to wait in, and of the longest wait, that is reserved for requests that
// return: one in so many at most.
const reservedShare = 4

// returning knows how many requests are expected back that were refused with a time.
type returning struct {
	promised func(priority int, now time.Time) float64 // nil if that is not known
	origin   time.Time                                 // of every Time
}

// before returns how many requests are expected back before r may take what is reserved for them.
func (p *returning) before(r *Request, now scheduler.Time) float64 {
	if p.promised == nil || r.Returns || r.Paid || r.Resume > 0 {
		return 0
	}
	return p.promised(r.Priority, p.origin.Add(now))
}

// reservedPlaces returns how many places of a queue are reserved for so many.
func reservedPlaces(n float64, maxWaiting int) int {
	return min(maxWaiting/reservedShare, int(math.Ceil(n)))
}

// reservedTime returns the part of the longest wait that is reserved for so many. every is the time between places.
func reservedTime(n float64, maxWait, every time.Duration) time.Duration {
	return min(maxWait/reservedShare, scheduler.Nanos(n*float64(every)))
}
