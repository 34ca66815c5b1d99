package gate

import "octet/scheduler"

// Beside is what other gateways have at the engine, as they tell it.
type Beside struct {
	Sequences int            // in its batch
	Blocks    int            // that these hold, and that are reserved for their growth
	Backlog   int            // tokens of prompts whose first token is awaited
	Waits     bool           // requests wait at other gateways
	Urgent    int            // the highest priority among these, as age has lifted it
	Tenant    uint64         // of the one of these that is next, see Shares; 0 is not told
	Had       int            // what that tenant has had
	Answer    scheduler.Time // that an answer takes; 0 is unknown
}

// Beside takes what other gateways have at the engine. Their blocks are withheld, unless the engine's own report shows
// more that is not ours; their sequences take places and slow the running; and while a request of a strictly higher
// priority waits at one of them no request is started here: it would have been the next in one queue. A request that
// finds none running here is started beside any number of theirs, if its blocks are free, so that none waits for ever.
func (g *Gate) Beside(b Beside) {
	now := g.lock(g.now())
	defer g.unlock()
	g.model.Beside(b, now)
}

// Beside is as Gate.Beside.
func (m *Model) Beside(b Beside, now scheduler.Time) {
	if b == m.engine.beside {
		return
	}
	m.engine.beside = b
	m.engine.roster.occupancy.set(m.engine.company(), now)
	m.withhold()
	m.forecast.fresh = false
	m.admitWaiting(now)
}

// withhold has blocks count as reserved that the model does not hold: those that other gateways tell of, or those that
// the engine's report shows, whichever are more, as both are the same ones; and the margin.
func (m *Model) withhold() {
	if m.engine.ledger.pool != nil {
		m.engine.ledger.withhold(max(m.calibration.others, m.engine.beside.Blocks) + int(m.calibration.margin))
	}
}

// company returns how many sequences run in the engine.
func (e *engine) company() int { return e.roster.sequences + e.beside.Sequences }

// behind reports whether a tenant's request of that priority is behind one that waits at another gateway: one that is
// more urgent, or as urgent and another tenant's, which has had clearly less.
func (e *engine) behind(priority int, tenant string) bool {
	b := &e.beside
	switch {
	case !b.Waits || b.Urgent < priority:
		return false
	case b.Urgent > priority:
		return true
	case e.shares == nil || b.Tenant == 0 || b.Tenant == e.shares.Key(tenant):
		return false
	}
	return e.shares.Had(tenant, priority) > b.Had+b.Had/clearly
}

// clearly is the part of what a tenant has had by which another one must have had more to be behind it.
const clearly = 16

// Shares is what tenants have had of the engine at all gateways, over their weights, by requests of each priority, as
// age had lifted it. It is called under the Gate's lock.
type Shares interface {
	Key(tenant string) uint64 // its name at all gateways
	Had(tenant string, priority int) int
	Started(tenant string, priority, cost int) // a negative cost was paid before, and is given back
}

// Elsewhere has a tenant pay for what another gateway started for it at the engine, at a priority, as age had lifted
// it: among those that wait here it has its turn as if that had been started here. A negative cost is given back.
//
// By that a tenant has one share of the engine however many gateways its requests come in at: see Wang and Merchant,
// Proportional-Share Scheduling for Distributed Storage Systems (FAST 2007), of which this is the delay of a start by
// what the flow was served elsewhere.
func (g *Gate) Elsewhere(tenant string, priority, cost int) {
	now := g.lock(g.now())
	defer g.unlock()
	g.model.Elsewhere(tenant, priority, cost, now)
}

// Elsewhere is as Gate.Elsewhere.
func (m *Model) Elsewhere(tenant string, priority, cost int, now scheduler.Time) {
	if m.waiting.backlog.Len() == 0 {
		return
	}
	head := m.waiting.backlog.Top()
	m.waiting.backlog.Amend(priority, tenant, cost)
	if m.waiting.backlog.Top() != head {
		m.admitWaiting(now)
	}
}

// Own is what this gateway has at the engine, for other gateways to take as Beside.
type Own struct {
	Sequences int
	Blocks    int // held, and reserved for growth
	Waiting   int // requests
	Urgent    int // the highest priority among these, as age has lifted it; meaningless where none waits
	Tenant    uint64
	Had       int // what the tenant of the one that is next has had, see Shares
	Answer    scheduler.Time
}

// Own returns what this gateway has at the engine.
func (g *Gate) Own() Own {
	g.lock(g.now())
	defer g.unlock()
	return g.model.Own()
}

// Own is as Gate.Own.
func (m *Model) Own() Own {
	e := &m.engine
	h := Own{Sequences: e.roster.sequences, Waiting: m.waiting.backlog.Len(),
		Answer: scheduler.Nanos(e.rates.service.value())}
	if h.Waiting > 0 {
		w := m.waiting.backlog.Top()
		h.Urgent = w.Level()
		if e.shares != nil {
			h.Tenant, h.Had = e.shares.Key(w.Tenant), e.shares.Had(w.Tenant, h.Urgent)
		}
	}
	if e.ledger.pool != nil {
		h.Blocks = e.ledger.pool.Used() - e.ledger.withheld.Len()
	}
	return h
}

// besideEnds adds the ends of what other gateways have in the engine to the departures to come: as many as there are
// sequences, spread evenly over the time of an answer. Where that is not known there are none.
func (f *forecast) besideEnds(e *engine, now scheduler.Time) {
	b := &e.beside
	service := float64(b.Answer)
	if service == 0 {
		service = e.rates.service.value()
	}
	if service == 0 {
		return
	}
	blocks, told := min(b.Blocks, e.ledger.withheld.Len()), 0
	for i := range b.Sequences {
		share := blocks*(i+1)/b.Sequences - told
		told += share
		f.ends = append(f.ends, departure{at: now + scheduler.Nanos(service*float64(i+1)/float64(b.Sequences)),
			blocks: share, places: 1})
	}
}
