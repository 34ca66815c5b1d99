package gateways

import (
	"fmt"

	"math/rand/v2"
	"time"

	"github.com/zeebo/xxh3"

	"octet/internal/replay"
	"octet/kvpool"
	"octet/routing/fleet"
	"octet/scheduler"
	"octet/scheduler/core"
	"octet/scheduler/gate"
)

// run is one cell under way.
type run struct {
	config   Config
	trace    *replay.Trace
	hasher   kvpool.Hasher
	engines  []*engine
	gateways []*gateway
	lives    []life
	agenda   agenda
	now      scheduler.Time
	dice     *rand.Rand // of the network
	clients  *rand.Rand
	left     int // requests that are not over

	cut, mended scheduler.Time // a partition's
	committing  bool           // an engine's step is being told
	fault       error
	out         Figures
}

// Run plays the trace once. The same arguments give the same Figures on any machine.
func Run(c Config, trace replay.Trace) (Figures, error) {
	r, err := newRun(c, &trace)
	if err != nil {
		return Figures{}, err
	}
	for r.agenda.Len() > 0 && r.fault == nil {
		next := r.agenda.next()
		r.now = next.at
		next.do()
		if c.check {
			r.checkModels()
		}
	}
	if r.fault == nil {
		r.fault = r.baseline()
	}
	if r.fault != nil {
		return Figures{}, fmt.Errorf("at %v: %w", r.now, r.fault)
	}
	return r.figures(), nil
}

func newRun(c Config, trace *replay.Trace) (*run, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	seed := c.Engines.Seed
	r := &run{config: c, trace: trace, hasher: kvpool.NewHasher(seed), dice: rand.New(rand.NewPCG(seed, 0x6e6574)),
		clients: rand.New(rand.NewPCG(seed, 0x636c69)), left: len(trace.Requests)}
	for i := range c.Engines.Replicas {
		e, err := newEngine(&c, i)
		if err != nil {
			return nil, err
		}
		r.engines = append(r.engines, e)
	}
	for i := range c.Gateways {
		g, err := newGateway(&c, i, r.hasher, r.clock)
		if err != nil {
			return nil, err
		}
		r.gateways = append(r.gateways, g)
	}
	r.expect()
	r.schedule()
	return r, nil
}

// expect makes the lives, and lets those arrive that wait for no other.
func (r *run) expect() {
	r.lives = make([]life, len(r.trace.Requests))
	tenants := rand.New(rand.NewPCG(r.config.Engines.Seed, 0x74656e))
	for i := range r.lives {
		l := &r.lives[i]
		l.Request, l.number = &r.trace.Requests[i], i
		if w := r.config.Tenants; len(w) == 2 && tenants.Float64()*(w[0]+w[1]) >= w[0] {
			l.tenant = 1
		}
		if l.After > 0 {
			r.lives[l.After-1].next = i + 1
			continue
		}
		at := time.Duration(float64(l.At) / r.config.Engines.Rate)
		r.agenda.note(at, func() { r.arrive(l) })
		r.out.span = max(r.out.span, at)
	}
}

// schedule notes what happens by the clock alone.
func (r *run) schedule() {
	for i, g := range r.gateways {
		r.agenda.note(scrape*time.Duration(i)/time.Duration(len(r.gateways)), func() { r.scrape(g) })
		if !r.alone() {
			r.agenda.note(beatEvery*time.Duration(i)/time.Duration(len(r.gateways)), func() { r.beat(g) })
		}
	}
	r.agenda.note(weighEvery, r.weigh)
	if p := r.config.Partition; p > 0 {
		middle, half := r.out.span/2, time.Duration(float64(r.out.span)*p/2)
		r.cut, r.mended = middle-half, middle+half
		r.agenda.note(r.mended, r.mend)
	}
}

// scrape reads the engines' reports of their load, as long as there is anything to do.
func (r *run) scrape(g *gateway) {
	if r.left == 0 {
		return
	}
	for host := range g.doors {
		d, s, usage := &g.doors[host], r.engines[host].core.Stats(), r.engines[host].usage()
		d.model.Reconcile(gate.Observed{KVUsage: usage, Running: s.Running, Waiting: s.Waiting,
			Preemptions: s.Preemptions, HasUsage: true, HasLoad: true, HasPreemptions: true}, r.now)
		d.member.Reports(&fleet.Reported{Running: s.Running, Waiting: s.Waiting,
			Others: max(0, s.Running-d.model.Stats().Running), HasLoad: true, KVUsage: usage, HasUsage: true})
		r.collect(g, host)
	}
	r.agenda.note(r.now+scrape, func() { r.scrape(g) })
}

// enters returns the gateway at which a request comes in.
func (r *run) enters(l *life) *gateway {
	n := len(r.gateways)
	at := r.clients.IntN(n)
	if r.config.Sticky {
		at = int(xxh3.HashString(l.Session) % uint64(n))
	}
	if len(r.config.Tenants) == 2 && n > 1 {
		at = (at/2*2 + l.tenant) % n
	}
	return r.gateways[at]
}

// start begins an engine's next step, if there is anything to do.
func (r *run) start(e *engine) {
	took := e.begin(&r.config, r.now)
	r.publish(e)
	if !e.steps {
		return
	}
	r.agenda.note(r.now+took, func() { r.settle(e) })
}

// weigh adds up the blocks that are in use, and those that gateways have given out beyond the pools, now and then.
func (r *run) weigh() {
	for _, e := range r.engines {
		s, asked := e.core.Stats(), 0
		for _, g := range r.gateways {
			asked += g.doors[e.host].model.Own().Blocks
		}
		e.inUse += s.Total - s.Free
		e.beyond += max(0, asked-s.Total)
	}
	if r.left > 0 {
		r.agenda.note(r.now+weighEvery, r.weigh)
	}
}

// settle ends an engine's step and begins the next.
func (r *run) settle(e *engine) {
	for i := range e.batch.Items {
		l := &r.lives[e.batch.Items[i].ID]
		if e.batch.Items[i].Samples {
			e.results[i].Stop = l.answer+1 == l.Output
		}
	}
	r.committing = true
	for _, o := range e.core.Commit(e.batch, e.results, r.now) {
		r.token(&r.lives[o.ID], o)
	}
	r.committing = false
	r.start(e)
	r.wake()
}

// wake starts the engines that were given requests while a step was told.
func (r *run) wake() {
	for _, e := range r.engines {
		if !e.steps && e.core.Stats().Waiting > 0 {
			r.start(e)
		}
	}
}

// token has a gateway see a request's next token.
func (r *run) token(l *life, o core.Output) {
	l.answer++
	l.last = r.now
	d := &l.gateway.doors[l.host]
	if l.first == 0 {
		l.first, l.cached = r.now, o.Cached
		l.flight.FirstToken(r.clock())
		d.model.FirstToken(l.lease, r.now)
		r.touched(l.gateway)
	}
	over := o.Finish != core.NotFinished
	if over || l.answer == 1 || l.answer%r.config.Engines.BlockSize == 0 {
		l.flight.Grow(l.answer, r.clock())
		d.model.Grow(l.lease, l.answer, r.now)
		r.touched(l.gateway)
	}
	if over {
		d.model.Cached(l.lease, l.cached)
		r.leave(l)
		r.over(l)
		return
	}
	r.collect(l.gateway, int(l.host))
}

// over lets the turn come that waited for l.
func (r *run) over(l *life) {
	r.left--
	if l.next > 0 {
		next := &r.lives[l.next-1]
		r.agenda.note(r.now+next.Gap, func() { r.arrive(next) })
	}
}

// publish sends what changed in an engine's cache to all gateways.
func (r *run) publish(e *engine) {
	b, changed := e.changes()
	if !changed {
		return
	}
	r.agenda.note(r.now+eventDelay, func() {
		for _, g := range r.gateways {
			g.beliefs.Apply(b)
		}
	})
}

func (r *run) clock() time.Time { return origin.Add(r.now) }

// fail ends the run.
func (r *run) fail(err error) {
	if r.fault == nil {
		r.fault = err
	}
}
