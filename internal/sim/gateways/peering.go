package gateways

import (
	"time"

	"octet/app/peering/ledgers"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
)

// touched notes that something of a gateway changed: it tells it at its next tick. When all is done nothing is told any
// more: one gateway's message would have the next one look, and tell, for ever.
func (r *run) touched(g *gateway) {
	if g.ticks || r.left == 0 || r.alone() {
		return
	}
	g.ticks = true
	phase := tellEvery * time.Duration(g.number) / time.Duration(len(r.gateways))
	r.agenda.note((r.now-phase+tellEvery).Truncate(tellEvery)+phase, func() { r.look(g) })
}

// beat has a gateway look now and then although nothing changed but what is left of prompts, as long as there is
// anything to do.
func (r *run) beat(g *gateway) {
	if r.left == 0 {
		return
	}
	r.look(g)
	r.agenda.note(r.now+beatEvery, func() { r.beat(g) })
}

// look is app/peering's: it tells what has changed here, and forgets the gateways whose leases are over.
func (r *run) look(g *gateway) {
	g.ticks = false
	now := r.clock()
	g.roll.Expire(now)
	news := g.tellFirsts(g.shares.Write(nil, len(r.gateways)-1), r.now)
	message := g.teller.Tell(g.gather(), news, now)
	r.apply(g)
	if message != nil {
		r.broadcast(g, message)
	}
}

// gather returns what a gateway has at each engine, as app/peering does.
func (g *gateway) gather() map[uint64]peers.Work {
	work := make(map[uint64]peers.Work, len(g.doors))
	for i := range g.doors {
		work[g.doors[i].key] = g.doors[i].work(g.clock())
	}
	return work
}

// work is what a gateway has at an engine.
func (d *door) work(now time.Time) peers.Work { return ledgers.Work(d.member, d.model.Own(), now) }

// unheard is what so many gateways that are not heard are taken to have at an engine.
func (d *door) unheard(missing int, now time.Time) peers.Work {
	if said := d.member.Reported(); said.HasLoad && said.Others == 0 {
		return peers.Work{}
	}
	return ledgers.Unheard(d.work(now), missing)
}

// apply tells a gateway's ledgers and Models what the others have, where that has changed.
func (r *run) apply(g *gateway) {
	g.applies = r.now + tellEvery/2
	changed := make(map[uint64]peers.Work)
	g.roll.Changes(func(key uint64, w peers.Work) { changed[key] = w })
	missing := 0
	if r.parted() { // the store is away, and known to be
		missing = len(r.gateways) - 1 - g.roll.Peers()
	}
	for host := range g.doors { // in their order, not the map's
		d := &g.doors[host]
		_, ok := changed[d.key]
		assumed := d.unheard(missing, r.clock())
		if !ok && assumed == d.assumed {
			continue
		}
		d.assumed = assumed
		scored, admitted := ledgers.Beside(g.roll.Beside(d.key).Add(assumed))
		d.member.Beside(scored)
		d.model.Beside(admitted, r.now)
		r.collect(g, host)
	}
}

// broadcast sends a message to all other gateways.
func (r *run) broadcast(from *gateway, message []byte) {
	r.out.Messages++
	r.out.Bytes += len(message)
	for _, to := range r.gateways {
		if to == from || r.parted() || r.dice.Float64() < r.config.Loss {
			continue
		}
		r.agenda.note(r.now+r.config.Delay, func() { r.hear(to, message) })
	}
}

// hear has a message arrive.
func (r *run) hear(g *gateway, message []byte) {
	if r.parted() {
		return
	}
	heard, err := g.roll.Hear(message, r.clock())
	if err != nil {
		r.fail(err)
		return
	}
	if heard.Joins {
		g.teller.Again()
	}
	if heard.Fresh {
		for _, m := range heard.Body.GetStarted() {
			r.hearStart(g, m)
		}
		for _, m := range heard.Body.GetFirsts() {
			r.hearFirst(g, m)
		}
	}
	if r.now >= g.applies { // as app/peering does, or with its next look
		r.apply(g)
	} else {
		r.touched(g)
	}
}

// hearStart has a tenant pay for what another gateway has started.
func (r *run) hearStart(g *gateway, m *peerspb.Started) {
	engine, of, cost := g.shares.Hear(m, r.clock())
	for host := range g.doors {
		if d := &g.doors[host]; d.key == engine {
			d.model.Elsewhere(of.Tenant, of.Priority, cost, r.now)
			r.collect(g, host)
		}
	}
}

// alone reports whether gateways tell each other nothing.
func (r *run) alone() bool { return r.config.Apart || len(r.gateways) == 1 }

// parted reports whether no message arrives now.
func (r *run) parted() bool { return r.now >= r.cut && r.now < r.mended }

// mend has the gateways tell all again when the network is back, as links do.
func (r *run) mend() {
	for _, g := range r.gateways {
		g.teller.Again()
		r.touched(g)
	}
}
