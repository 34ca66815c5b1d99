package gate

import (
	"fmt"
	"math"
	"time"

	"octet/scheduler"
)

// keptShare is the part of the places to wait in, and of the longest wait, that is kept for those who return: one in so
// many at most.
const keptShare = 4

// expected returns how many are expected back before r may take what is kept for them.
func (g *Gate) expected(r *Request, now scheduler.Time) float64 {
	if g.promised == nil || r.Returns || r.Paid || r.Resume > 0 {
		return 0
	}
	return g.promised(r.Priority, g.origin.Add(now))
}

// keptPlaces returns how many places in the queue r may not take: they are kept for those who return.
func (g *Gate) keptPlaces(r *Request, now scheduler.Time) int {
	return min(g.maxWaiting/keptShare, int(math.Ceil(g.expected(r, now))))
}

// keptTime is keptPlaces of the longest wait.
func (g *Gate) keptTime(r *Request, now scheduler.Time) time.Duration {
	n := g.expected(r, now)
	if g.maxWait == 0 || n == 0 {
		return 0
	}
	return min(g.maxWait/keptShare, scheduler.Nanos(n*float64(g.interval(now))))
}

// interval estimates the time between places that come free; 0 is unknown. Caller holds gateMu.
func (g *Gate) interval(now scheduler.Time) time.Duration {
	f, service := g.departures(now), g.rates.service.value()
	if !f.known || service == 0 {
		return g.rates.drain.Interval(now)
	}
	return scheduler.Nanos(service / float64(len(f.ends)))
}

// room returns how many can wait within all bounds, as far as is known.
func (g *Gate) room(every time.Duration) int {
	if every > 0 && g.maxWait > 0 {
		return min(g.maxWaiting, int(g.maxWait/every))
	}
	return g.maxWaiting
}

// Vacancy returns when the next place comes free, and the time between those after it; 0 is unknown. A request may
// still not fit it.
func (g *Gate) Vacancy() (after, every time.Duration) {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	now := g.elapsed()
	every = g.interval(now)
	if f := g.departures(now); f.known && every > 0 {
		return max(1, f.ends[0].at-now), every
	}
	return every, every
}

func (g *Gate) refusal(r *Request, a scheduler.Answer, now scheduler.Time) *scheduler.Refusal {
	no := &scheduler.Refusal{Reason: a.Reason, RetryAfter: a.RetryAfter, Offered: a.Offered,
		Detail: fmt.Sprintf("%s: %d prompt and %d new tokens at priority %d", r.ID,
			r.PromptTokens+r.Further.Tokens+r.Resume, r.MaxNew, r.Priority)}
	if no.RetryAfter > 0 {
		no.Every = g.interval(now)
		no.Room = g.room(no.Every)
	}
	return no
}
