package gate

import "time"

// NextEnd estimates the time until one of the requests in the engine ends, as a Retry-After; 0 is unknown. It changes
// nothing.
func (g *Gate) NextEnd() time.Duration {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	now := g.elapsed()
	if f := g.departures(now); f.known {
		return g.later(max(1, f.ends[0].at-now))
	}
	return g.later(g.rates.drain.RetryAfter(1, now))
}
