package gate

import (
	"slices"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// forecast is when those who run now will be done, as far as the rates tell. It is made anew when somebody came or
// went, and else at most every forecastAge, so that a crowd that is sent away at once costs one.
type forecast struct {
	ends  []departure // earliest first
	made  scheduler.Time
	fresh bool
	known bool

	play    []departure // scratch of turn, earliest first
	preview queue.Preview[*waiter]
}

type departure struct {
	at     scheduler.Time
	blocks int // that it gives back at most
	places int // sequences
}

const (
	forecastAge = 5 * time.Millisecond
	// farAhead is how many of a queue are played through one by one; a place behind them is estimated from the mean.
	farAhead = 64
)

// departures brings the forecast to now, not known where a rate is missing. Caller holds gateMu.
func (g *Gate) departures(now scheduler.Time) *forecast {
	f := &g.forecast
	if f.fresh && now-f.made < forecastAge {
		return f
	}
	f.ends, f.made, f.fresh, f.known = f.ends[:0], now, true, len(g.tickets) > 0
	for _, t := range g.tickets {
		at, ok := t.ends(now)
		if !ok {
			f.known = false
			return f
		}
		d := departure{at: at, places: t.shape.sequences()}
		if t.table != nil {
			d.blocks = t.table.Len()
		}
		f.ends = append(f.ends, d)
	}
	slices.SortFunc(f.ends, func(a, b departure) int { return int(a.at - b.at) })
	return f
}

// turn estimates the time until r, which comes as n, starts: those before it are played through in order over the
// departures to come, each taking and giving back what it asks for. Without rates it is the measured drain; 0 is
// unknown. Caller holds gateMu.
func (g *Gate) turn(r *Request, n *queue.Newcomer, now scheduler.Time) time.Duration {
	f := g.departures(now)
	service := g.rates.service.value()
	if !f.known || service == 0 {
		return g.rates.drain.RetryAfter(g.waiting.AheadOf(n)+1, now)
	}
	p := g.future(f, now)
	if g.playBefore(n, &p) >= farAhead {
		if ahead := g.waiting.AheadOf(n); ahead >= farAhead {
			waves := ahead / len(f.ends)
			return max(1, f.ends[ahead%len(f.ends)].at-now) + scheduler.Nanos(service*float64(waves))
		}
	}
	p.start(g, r)
	return max(1, p.at-now)
}

// nextPlace estimates the time until r starts that is the next to, if nobody gives way for it; 0 is unknown. Caller
// holds gateMu.
func (g *Gate) nextPlace(r *Request, now scheduler.Time) time.Duration {
	f := g.departures(now)
	if !f.known || g.rates.service.value() == 0 {
		return g.rates.drain.RetryAfter(1, now)
	}
	p := g.future(f, now)
	p.start(g, r)
	return max(1, p.at-now)
}

// future is now. It is valid until the next.
func (g *Gate) future(f *forecast, now scheduler.Time) future {
	f.play = append(f.play[:0], f.ends...)
	p := future{f: f, at: now, places: g.maxRunning - g.sequences}
	if g.pool != nil {
		p.free = g.pool.Free() - g.owed
	}
	return p
}

// playBefore starts those who come before n, farAhead at most, and returns how many.
func (g *Gate) playBefore(n *queue.Newcomer, p *future) (count int) {
	cost := func(w *waiter) int {
		if w.req.Paid {
			return queue.NoCharge
		}
		return g.cost(&w.req, g.reuse(&w.req))
	}
	g.forecast.preview.Before(&g.waiting, n, cost, func(w *waiter) bool {
		p.start(g, &w.req)
		count++
		return count < farAhead
	})
	return count
}

// vacancy estimates the time until the queue has one place more: its head starts. That is r, which comes as n, where
// nobody waits.
func (g *Gate) vacancy(r *Request, n *queue.Newcomer, now scheduler.Time) time.Duration {
	if g.waiting.Len() > 0 {
		w := g.waiting.Top()
		head := queue.Newcomer{Rank: w.Rank, Tenant: w.Tenant, Level: w.Level()}
		r, n = &w.req, &head
	}
	return g.turn(r, n, now)
}

// future is the engine as it would go on.
type future struct {
	f      *forecast
	at     scheduler.Time
	places int
	free   int // blocks
}

// start lets departures come until r fits, and starts it.
func (p *future) start(g *Gate, r *Request) {
	s := r.shape()
	need, held, more := 0, 0, s.sequences()
	if g.pool != nil {
		need, held = g.blocks(r)-g.reuse(r), s.blocks(g.pool, max(r.MaxNew, s.each(r.Resume)+1))
	}
	for (p.places < min(more, g.maxRunning) || p.free < need) && len(p.f.play) > 0 {
		d := p.f.play[0]
		p.f.play = p.f.play[1:]
		p.at = max(p.at, d.at)
		p.places += d.places
		p.free += d.blocks
	}
	p.places -= more
	p.free -= held
	ends := p.at + g.rates.laterFirstToken(g.uncached(r, 0)) + g.rates.rest(max(0, r.MaxNew-s.each(r.Resume)),
		g.sequences)
	i, _ := slices.BinarySearchFunc(p.f.play, ends, func(d departure, at scheduler.Time) int { return int(d.at - at) })
	p.f.play = slices.Insert(p.f.play, i, departure{ends, held, more})
}
