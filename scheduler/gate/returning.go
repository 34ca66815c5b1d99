package gate

import (
	"math"
	"time"

	"octet/scheduler"
)

// reservedShare is the part of the places to wait in, and of the longest wait, that is reserved for requests that
// return: one in so many at most.
const reservedShare = 4

// returning returns how many requests are expected back before r may take what is reserved for them.
func (m *Model) returning(r *Request, now scheduler.Time) float64 {
	if m.promised == nil || r.Returns || r.Paid || r.Resume > 0 {
		return 0
	}
	return m.promised(r.Priority, m.engine.origin.Add(now))
}

// reservedPlaces returns how many places in the queue r may not take.
func (m *Model) reservedPlaces(r *Request, now scheduler.Time) int {
	return min(m.waiting.maxWaiting/reservedShare, int(math.Ceil(m.returning(r, now))))
}

// reservedTime returns the part of the longest wait that r may not take.
func (m *Model) reservedTime(r *Request, now scheduler.Time) time.Duration {
	n := m.returning(r, now)
	if m.waiting.maxWait == 0 || n == 0 {
		return 0
	}
	return min(m.waiting.maxWait/reservedShare, scheduler.Nanos(n*float64(m.forecast.interval(&m.engine, now))))
}
