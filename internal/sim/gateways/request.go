package gateways

import (
	"context"
	"errors"
	"math/bits"
	"strconv"

	"octet/internal/replay"
	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
	"octet/scheduler"
	"octet/scheduler/core"
	"octet/scheduler/gate"
)

// life is one request on its way.
type life struct {
	*replay.Request
	number int
	tenant int
	at     scheduler.Time
	first  scheduler.Time // of its first token; 0 is not yet
	last   scheduler.Time // of its last
	answer int            // tokens so far
	cached int            // prompt tokens that the engine had
	next   int            // the request that comes after this one's answer, as its place plus 1; 0 means none does

	gateway  *gateway
	hosts    []index.HostID // still to be tried, best first
	held     []int          // blocks that are believed to be at each of them
	chain    []kvpool.BlockHash
	tokens   []uint32
	host     index.HostID
	lease    *gate.Lease
	flight   fleet.Flight
	admitted bool
	refused  bool
}

// arrive routes a request at its gateway, and asks.
func (r *run) arrive(l *life) {
	l.at = r.now
	l.gateway = r.enters(l)
	g := l.gateway
	l.tokens = r.trace.AppendPrompt(make([]uint32, 0, l.Input), l.number, r.config.Engines.Seed)
	g.prompt = l.tokens
	c := routing.Acquire(routing.Facts{Specialist: specialist, Session: l.Session, Kind: "completion", Stream: true,
		Now: r.clock()})
	defer c.Release()
	c.Candidates(g.snapshot.Hosts)
	plugins.Fleet.Put(c, g.snapshot)
	d, err := g.profile.Select(context.Background(), c)
	var none *routing.NoCandidateError
	switch {
	case errors.As(err, &none):
		r.refuse(l)
		return
	case err != nil:
		r.fail(err)
		return
	}
	l.chain = append([]kvpool.BlockHash(nil), plugins.BlockHashes.Get(c.View())...)
	depths := plugins.Depths.Get(c.View())
	for _, s := range d.Ranked[:min(len(d.Ranked), attempts)] {
		l.hosts, l.held = append(l.hosts, s.Host), append(l.held, int(depths[s.Host]))
	}
	r.ask(l)
}

// ask asks the Gates of the replicas that are left to be tried, one after the other, until one lets the request start
// or wait.
func (r *run) ask(l *life) {
	g := l.gateway
	for len(l.hosts) > 0 {
		host, held := l.hosts[0], l.held[0]
		known := g.knows(l.chain, host)
		l.hosts, l.held, l.host = l.hosts[1:], l.held[1:], host
		d := &g.doors[host]
		l.lease = new(gate.Lease)
		q := r.question(l)
		q.Held = known * r.config.Engines.BlockSize
		demand := fleet.Demand{Prompt: l.Input, Uncached: max(1, l.Input-held*r.config.Engines.BlockSize)}
		state, _ := d.model.Ask(&q, l.lease, r.now)
		switch state {
		case scheduler.Admitted:
			d.member.Start(&l.flight, demand, r.clock())
			r.send(l)
		case scheduler.Waiting:
			w := new(gate.Waiter)
			l.flight = d.member.Route(demand)
			d.waiting[w] = l
			d.model.Queue(w, &q, l.lease, r.now)
			if at, ok := w.Expires(); ok {
				r.agenda.note(at, func() { r.expire(g, int(host), w) })
			}
		case scheduler.Refused: // the next one is asked
		}
		r.collect(g, int(host))
		r.touched(g)
		if state != scheduler.Refused {
			return
		}
	}
	r.refuse(l)
}

// question is what a Gate is asked. Clients bound their answers roughly.
func (r *run) question(l *life) gate.Request {
	q := gate.Request{ID: strconv.Itoa(l.number), Chain: l.chain, PromptTokens: l.Input,
		MaxNew: max(64, 1<<bits.Len(uint(l.Output))), Tenant: strconv.Itoa(l.tenant), Arrived: origin.Add(l.at)}
	if !r.config.Patient {
		q.TTFTDeadline = origin.Add(l.at + r.config.goal(l.Input))
	}
	return q
}

// expire ends a wait that was too long, unless it is over.
func (r *run) expire(g *gateway, host int, w *gate.Waiter) {
	d := &g.doors[host]
	if d.waiting[w] == nil {
		return
	}
	d.model.Expire(w, r.now)
	r.collect(g, host)
	r.touched(g)
}

// collect has those go on that a Model settled.
func (r *run) collect(g *gateway, host int) {
	d := &g.doors[host]
	settled, _ := d.model.Effects() // no request is a victim
	if len(settled) == 0 {
		return
	}
	settled = append([]*gate.Waiter(nil), settled...)
	for _, w := range settled {
		l := d.waiting[w]
		delete(d.waiting, w)
		if w.Refusal() != nil {
			l.flight.Land()
			r.ask(l)
			continue
		}
		l.flight.Begin(r.clock())
		r.send(l)
	}
	r.touched(g)
}

// send gives an admitted request to its engine.
func (r *run) send(l *life) {
	e := r.engines[l.host]
	_, err := e.core.Add(core.Request{ID: uint64(l.number), Tokens: l.tokens, Root: r.hasher.Root(specialist, "", ""),
		Arrival: r.now, MaxNew: l.Output}, r.now)
	if errors.Is(err, scheduler.ErrRefused) { // larger than the pool
		r.leave(l)
		r.refuse(l)
		return
	}
	if err != nil {
		r.fail(err)
		return
	}
	l.admitted, l.tokens, l.hosts = true, nil, nil
	l.gateway.beliefs.Routed(l.host, l.chain, r.clock())
	if !e.steps && !r.committing {
		r.start(e)
	}
}

// leave ends a request's hold on its engine.
func (r *run) leave(l *life) {
	l.gateway.doors[l.host].model.Release(l.lease, r.now)
	l.flight.Land()
	r.collect(l.gateway, int(l.host))
	r.touched(l.gateway)
}

// refuse ends a request that is not served.
func (r *run) refuse(l *life) {
	l.refused, l.tokens = true, nil
	r.over(l)
}
