package gate

import (
	"slices"
	"time"

	"octet/scheduler"
	"octet/scheduler/queue"
)

// forecast is when the running requests will be done, as far as the rates tell. It is made anew when a request started
// or ended, and else at most every forecastAge, so that a crowd that is refused at once costs one.
type forecast struct {
	ends  []departure // earliest first
	made  scheduler.Time
	fresh bool
	known bool

	play    []departure // scratch of future, earliest first
	preview queue.Preview[*Waiter]
}

// departure is the end of one request.
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

// update brings the forecast to now. It is not known if a rate is missing.
func (f *forecast) update(e *engine, now scheduler.Time) {
	if f.fresh && now-f.made < forecastAge {
		return
	}
	f.ends, f.made, f.fresh, f.known = f.ends[:0], now, true, len(e.roster.leases) > 0
	for _, l := range e.roster.leases {
		at, ok := e.rates.ends(l, e.company(), now)
		if !ok {
			f.known = false
			return
		}
		d := departure{at: at, places: l.shape.sequences()}
		if l.table != nil {
			d.blocks = l.table.Len()
		}
		f.ends = append(f.ends, d)
	}
	f.besideEnds(e, now)
	slices.SortFunc(f.ends, func(a, b departure) int { return int(a.at - b.at) })
}

// turn estimates the time until r, which comes as n, starts: those before it are played through in order over the
// departures to come, each taking and giving back what it asks for. Without rates it is the measured drain. 0 is
// unknown.
func (f *forecast) turn(e *engine, w *waiting, r *Request, n *queue.Newcomer, now scheduler.Time) time.Duration {
	f.update(e, now)
	service := e.rates.service.value()
	if !f.known || service == 0 {
		return e.rates.drain.RetryAfter(w.backlog.AheadOf(n)+1, now)
	}
	p := f.future(e, now)
	if f.playBefore(n, w, &p) >= farAhead {
		if ahead := w.backlog.AheadOf(n); ahead >= farAhead {
			waves := ahead / len(f.ends)
			return max(1, f.ends[ahead%len(f.ends)].at-now) + scheduler.Nanos(service*float64(waves))
		}
	}
	p.start(r)
	return max(1, p.at-now)
}

// nextPlace estimates the time until r starts if it is the next and no victim gives way for it; 0 is unknown.
func (f *forecast) nextPlace(e *engine, r *Request, now scheduler.Time) time.Duration {
	f.update(e, now)
	if !f.known || e.rates.service.value() == 0 {
		return e.rates.drain.RetryAfter(1, now)
	}
	p := f.future(e, now)
	p.start(r)
	return max(1, p.at-now)
}

// nextEnd estimates the time until one of the running requests ends; 0 is unknown.
func (f *forecast) nextEnd(e *engine, now scheduler.Time) time.Duration {
	f.update(e, now)
	if f.known {
		return max(1, f.ends[0].at-now)
	}
	return e.rates.drain.RetryAfter(1, now)
}

// interval estimates the time between places that come free; 0 is unknown.
func (f *forecast) interval(e *engine, now scheduler.Time) time.Duration {
	f.update(e, now)
	service := e.rates.service.value()
	if !f.known || service == 0 {
		return e.rates.drain.Interval(now)
	}
	return scheduler.Nanos(service / float64(len(f.ends)))
}

// playBefore starts the waiting requests before n, farAhead at most, and returns how many.
func (f *forecast) playBefore(n *queue.Newcomer, w *waiting, p *future) (count int) {
	e := p.engine
	cost := func(o *Waiter) int {
		if o.req.Paid {
			return queue.NoCharge
		}
		return e.cost(&o.req, e.ledger.reuse(&o.req))
	}
	f.preview.Before(&w.backlog, n, cost, func(o *Waiter) bool {
		p.start(&o.req)
		count++
		return count < farAhead
	})
	return count
}

// future is the engine as it would go on.
type future struct {
	engine *engine
	f      *forecast
	at     scheduler.Time
	places int
	free   int // blocks
}

// future returns the engine as it is now. It is valid until the next one.
func (f *forecast) future(e *engine, now scheduler.Time) future {
	f.play = append(f.play[:0], f.ends...)
	return future{engine: e, f: f, at: now, places: e.maxRunning - e.company(), free: e.ledger.free()}
}

// start lets departures come until r fits, and starts it.
func (p *future) start(r *Request) {
	e, b, s := p.engine, &p.engine.ledger, r.shape()
	need, held, more := 0, 0, s.sequences()
	if b.pool != nil {
		need, held = b.holds(r, 1)-b.reuse(r), s.blocks(b.pool, max(r.MaxNew, s.each(r.Resume)+1))
	}
	for (p.places < min(more, e.maxRunning) || p.free < need) && len(p.f.play) > 0 {
		d := p.f.play[0]
		p.f.play = p.f.play[1:]
		p.at = max(p.at, d.at)
		p.places += d.places
		p.free += d.blocks
	}
	p.places -= more
	p.free -= held
	ends := p.at + e.rates.laterFirstToken(b.uncached(r, 0)) +
		e.rates.rest(max(0, r.MaxNew-s.each(r.Resume)), e.company())
	i, _ := slices.BinarySearchFunc(p.f.play, ends, func(d departure, at scheduler.Time) int { return int(d.at - at) })
	p.f.play = slices.Insert(p.f.play, i, departure{ends, held, more})
}
