package gate

import (
	"octet/scheduler"
)

// grouping lets waiting requests go ahead whose adapter the engine has at hand: to change adapters costs an engine more
// than anything but to lose its cache. Among the requests of one tenant at one level only, so that priorities and
// tenants' shares are as they would be, and each request lets no more than so many go ahead.
type grouping struct {
	running map[string]int // leases by adapter; requests without one are not counted
	last    string         // of the lease with an adapter that ended last
	told    int            // adapters that the engine says it takes at once; 0 is not known
	bounds  AdapterBounds
}

// AdapterBounds are how waiting requests are grouped by adapter.
type AdapterBounds struct {
	Overtakes int // a request lets so many later ones go ahead at most; 0 means none
	AtOnce    int // adapters that the engine takes at once; 0 means as many as it says, or one if it does not
}

// groupingWindow is how many requests behind the head are looked at.
const groupingWindow = 16

func (g *grouping) begin(adapter string) {
	if adapter == "" {
		return
	}
	if g.running == nil {
		g.running = map[string]int{}
	}
	g.running[adapter]++
}

func (g *grouping) end(adapter string) {
	if adapter == "" {
		return
	}
	g.last = adapter
	if g.running[adapter]--; g.running[adapter] == 0 {
		delete(g.running, adapter)
	}
}

// atHand reports whether a request of that adapter has the engine change none.
func (g *grouping) atHand(adapter string) bool {
	return adapter == "" || adapter == g.last || g.running[adapter] > 0
}

// spare reports whether the engine takes one more adapter beside those that run; beside the last one, if none does.
func (g *grouping) spare() bool {
	most := g.bounds.AtOnce
	if most == 0 {
		most = g.told
	}
	return max(1, len(g.running)) < most
}

// yields reports whether w may let a later request go ahead: not one that has a deadline, that resumes, that others
// give way for, that has waited for half of the longest wait, or that has let its number go ahead.
func (m *Model) yields(w *Waiter, now scheduler.Time) bool {
	return w.overtaken < m.engine.roster.grouping.bounds.Overtakes && !w.claims && w.req.Resume == 0 &&
		m.engine.deadline(&w.req) == maxTime && (m.waiting.maxWait == 0 || now-w.queued < m.waiting.maxWait/2)
}

// next returns the request that starts now that head could, and how many blocks it shares, as head does reuse: head, or
// a later one that goes ahead as its adapter is at hand and head's is not. All that it passes are counted as overtaken.
func (m *Model) next(head *Waiter, reuse int, now scheduler.Time) (*Waiter, int) {
	g := &m.engine.roster.grouping
	if g.atHand(head.req.Adapter) || g.spare() || !m.yields(head, now) {
		return head, reuse
	}
	passed := 0
	var ahead *Waiter
	m.forecast.preview.Behind(head, groupingWindow, func(w *Waiter) bool {
		passed++
		if w.req.Adapter != "" && g.atHand(w.req.Adapter) && w.expires > now {
			shared, fits := m.engine.fits(&w.req, now)
			if fits && m.engine.slack(&w.req, shared, 0, now) >= 0 {
				ahead, reuse = w, shared
				return false
			}
		}
		return m.yields(w, now)
	})
	if ahead == nil {
		return head, reuse
	}
	head.overtaken++
	m.forecast.preview.Behind(head, passed-1, func(w *Waiter) bool {
		w.overtaken++
		return true
	})
	return ahead, reuse
}
