package gate

import (
	"time"

	"octet/scheduler"
)

// What routing, operators and collectors ask of a Gate. Each is its Model's answer under the lock.

// Probe returns what Admit would say now, and changes nothing.
func (g *Gate) Probe(r Request) scheduler.Answer {
	r.check()
	now := g.lock(time.Time{})
	defer g.unlock()
	return g.model.Probe(&r, now)
}

// Reconfigure changes the bounds: of cfg count MaxRunning, MaxWaiting, MaxWait, Aging, Redo and
// Adapters. Running and waiting
// requests keep what they have; what fits now is admitted. It panics on bounds that New would refuse.
func (g *Gate) Reconfigure(cfg Config) {
	now := g.lock(time.Time{})
	defer g.unlock()
	g.model.Reconfigure(cfg, now)
}

// Reconcile corrects the model by what the engine says. Blocks that it holds beyond the model are put down to other
// gateways if it has more requests than ours, and else to the model: that is an error, and a margin follows it, a
// quarter of the pool at most, which fades when the error has gone. Both are withheld: they count as reserved, no
// request is admitted into them, and growth may use them before it overcommits. An engine that does not tell its usage
// changes nothing.
func (g *Gate) Reconcile(o Observed) {
	now := g.lock(time.Time{})
	defer g.unlock()
	g.model.Reconcile(o, now)
}

// Cleared says that the engine's prefix cache is empty: it was reset, or the engine began anew. What no request holds
// is not found in the model any more, and what running requests hold is dropped when they end, with all that is free
// then: the model may know less than the engine has, and after that never more.
func (g *Gate) Cleared() {
	g.lock(time.Time{})
	defer g.unlock()
	g.model.Cleared()
}

// Vacancy returns when the next place comes free, and the time between those after it; 0 is unknown. A request may
// still not fit it.
func (g *Gate) Vacancy() (after, every time.Duration) {
	now := g.lock(time.Time{})
	defer g.unlock()
	return g.model.Vacancy(now)
}

// NextEnd estimates the time until one of the requests in the engine ends, as a Retry-After; 0 is unknown. It changes
// nothing.
func (g *Gate) NextEnd() time.Duration {
	now := g.lock(time.Time{})
	defer g.unlock()
	return g.model.NextEnd(now)
}

// Stats returns the present picture. Without a pool the block counts are 0.
func (g *Gate) Stats() scheduler.Stats {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	return g.model.Stats()
}

// Calibration returns how the model stands beside what the engine says.
func (g *Gate) Calibration() Calibration {
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	return g.model.Calibration()
}

// Preempting reports whether any request in the engine has to give way or is overcommitted. It takes no lock.
func (g *Gate) Preempting() bool { return g.preempting.Load() }

// Check proves the invariants of the model and of its pool, in time linear in all it holds. For tests and diagnosis.
func (g *Gate) Check() error {
	now := g.lock(time.Time{})
	defer g.unlock()
	return g.model.Check(now)
}
