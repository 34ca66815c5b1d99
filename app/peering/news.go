package peering

import (
	"time"

	"octet/gateway/tenant"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
	"octet/slo"
)

// Bounds of what waits to be told; what is beyond them is not told, and counted.
const (
	mostVerdicts = 256
	mostSeats    = 2048
	mostTenants  = 1024
)

// news is what has happened here since it was told last, beside work and knobs.
type news struct {
	verdicts []verdict
	seats    map[uint64]*peerspb.Seat // by conversation: the last one is told
	used     map[string]tenant.Used
	routed   []*peerspb.Routed
	firsts   []*peerspb.First
	hashing  uint64 // see Config.Hashing
	dropped  uint64
}

type verdict struct {
	specialist string
	slo.Given
}

func newNews(hashing uint64) *news {
	return &news{hashing: hashing, seats: map[uint64]*peerspb.Seat{}, used: map[string]tenant.Used{}}
}

// write adds the news to a message and forgets them; a nil message is made if there are any.
func (n *news) write(m *peerspb.Message, now time.Time) *peerspb.Message {
	if len(n.verdicts)+len(n.seats)+len(n.used)+len(n.routed)+len(n.firsts) == 0 {
		return m
	}
	if m == nil {
		m = new(peerspb.Message)
	}
	for _, v := range n.verdicts {
		m.Verdicts = append(m.Verdicts, &peerspb.Verdict{Specialist: v.specialist, Kind: v.Kind, By: v.By, Pass: v.Pass,
			AgeMs: uint64(max(now.Sub(v.Answered).Milliseconds(), 0)), Revision: v.Revision, OfKind: v.OfKind,
			Overturns: v.Overturn, PassedBy: v.PassedBy, Version: v.Version})
	}
	for _, s := range n.seats {
		m.Seats = append(m.Seats, s)
	}
	for name, u := range n.used {
		m.Used = append(m.Used, &peerspb.Used{Tenant: name, Requests: uint32(u.Requests), Tokens: int64(u.Tokens),
			Budget: int64(u.Budget)})
	}
	if len(n.routed) > 0 {
		m.Routed, m.Hashing = n.routed, n.hashing
	}
	m.Firsts = n.firsts
	n.verdicts, n.routed, n.firsts = nil, nil, nil
	clear(n.seats)
	clear(n.used)
	return m
}

// Judged tells the other gateways of a verdict that counted here.
func (g *Group) Judged(specialist string, given slo.Given) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.roll.Peers() == 0 {
		return
	}
	if len(g.news.verdicts) >= mostVerdicts {
		g.news.dropped++
		return
	}
	g.news.verdicts = append(g.news.verdicts, verdict{specialist, given})
}

// Seated tells the other gateways which specialist a conversation is with.
func (g *Group) Seated(conversation uint64, specialist string, tokens int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.roll.Peers() == 0 {
		return
	}
	if len(g.news.seats) >= mostSeats {
		g.news.dropped++
		return
	}
	g.news.seats[conversation] = &peerspb.Seat{Conversation: conversation, Specialist: specialist,
		Tokens: uint32(min(max(tokens, 0), 1<<31))}
}

// Used tells the other gateways what a tenant has used here.
func (g *Group) Used(name string, u tenant.Used) {
	g.mu.Lock()
	defer g.mu.Unlock()
	had, known := g.news.used[name]
	switch {
	case g.roll.Peers() == 0:
		return
	case !known && len(g.news.used) >= mostTenants:
		g.news.dropped++
		return
	}
	g.news.used[name] = tenant.Used{Requests: had.Requests + u.Requests, Tokens: had.Tokens + u.Tokens,
		Budget: had.Budget + u.Budget}
}

// mostUsed bounds what one message may charge a tenant with, and mostAge how old an answer may be.
const (
	mostUsed = 1 << 30
	mostAge  = 30 * 24 * time.Hour
)

// hearNews takes in what another gateway tells beside work. What comes twice counts once.
func (g *Group) hearNews(heard peers.Heard) {
	m := heard.Body
	if !heard.Fresh {
		return
	}
	now := time.Now()
	for _, v := range m.GetVerdicts() {
		age := min(time.Duration(min(v.GetAgeMs(), uint64(mostAge.Milliseconds())))*time.Millisecond, mostAge)
		g.cfg.Judged(v.GetSpecialist(), slo.Given{
			Verdict: slo.Verdict{Answered: now.Add(-age), Pass: v.GetPass(), Kind: v.GetKind(), By: v.GetBy(),
				Revision: v.GetRevision(), Version: v.GetVersion()},
			OfKind: v.GetOfKind(), Overturn: v.GetOverturns(), PassedBy: v.GetPassedBy()})
	}
	for _, s := range m.GetSeats() {
		g.cfg.Seated(s.GetConversation(), s.GetSpecialist(), int(s.GetTokens()))
	}
	g.hearStarts(m.GetStarted(), now)
	g.replicas.Load().hearFirsts(m.GetFirsts())
	g.hearRouted(heard)
	for _, u := range m.GetUsed() {
		g.cfg.Used(u.GetTenant(), tenant.Used{Requests: int(min(u.GetRequests(), mostUsed)),
			Tokens: int(min(max(u.GetTokens(), -mostUsed), mostUsed)),
			Budget: int(min(max(u.GetBudget(), -mostUsed), mostUsed))})
	}
}

// hearStarts has tenants pay for what another gateway has started.
func (g *Group) hearStarts(started []*peerspb.Started, now time.Time) {
	served := g.replicas.Load()
	for _, m := range started {
		if served.at[m.GetReplica()] == nil {
			continue
		}
		replica, of, cost := g.shares.hear(m, now)
		for _, r := range served.at[replica] {
			r.Gate.Elsewhere(of.Tenant, of.Priority, cost)
		}
	}
}
