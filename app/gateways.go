package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"octet/app/fabric"
	"octet/app/peering"
	"octet/config"
	"octet/gateway"
	"octet/gateway/receipt"
	"octet/gateway/tenant"
	"octet/kvpool"
	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/routing/peers/natslink"
	"octet/routing/peers/redislink"
	"octet/scheduler/gate"
)

// membership is this gateway's part among several. The zero membership is that of the only one.
type membership struct {
	group *peering.Group // nil where there are no others
	link  peers.Link     // its group's
	parts atomic.Int32   // into which tenants' rates are cut, see tenant.Sharing
}

// join makes a one of several gateways, if the configuration has any.
func (m *membership) join(a *App, cfg *config.Config, hasher kvpool.Hasher) error {
	if cfg.Gateways == nil {
		return nil
	}
	link, err := a.Options.linkOf(cfg.Gateways)
	if err != nil {
		return fmt.Errorf("%w: gateways: %w", ErrConfig, err)
	}
	m.link = link
	m.group = peering.New(peering.Config{Name: cfg.Gateways.Called(), Lease: cfg.Gateways.Lease, Link: link, Log: a.Log,
		Count: cfg.Gateways.Count, Knobs: a.history.knobs, Judged: a.history.hear,
		Receipt: func(id string, forClient bool) (tenant string, text []byte, ok bool) {
			return receiptFor(a.server, id, forClient)
		},
		Weight:  func(name string) int { return a.tenancy.weight(name) },
		Judge:   func(j receipt.Judgement) (counted, found bool, refused string) { return a.server.Judge(j) },
		KeyOpen: func(tenant, key string) bool { return a.server.KeyOpen(tenant, key) },
		Seated: func(conversation uint64, specialist string, tokens int) {
			a.server.Conversations().Adopt(conversation, specialist, tokens)
		},
		Routed: routedElsewhere(a.fabric), Hashing: uint64(hasher.Root("gateways", "", "")),
		Divided: func(parts int) { m.parts.Store(int32(parts)) },
		Used:    func(name string, u tenant.Used) { a.server.Runtime().Tenants.Elsewhere(name, u, time.Now()) }})
	a.history.told = m.group.Judged
	return nil
}

// routedElsewhere returns what notes in f which prompt another gateway has sent to a replica, unless the replica's
// events tell.
func routedElsewhere(f *fabric.Fabric) func(r *fleet.Replica, chain []kvpool.BlockHash) {
	return func(r *fleet.Replica, chain []kvpool.BlockHash) {
		host := r.Spec().Host
		if r.Departed() || f.Beliefs().Heard(host) {
			return
		}
		f.Beliefs().Routed(host, chain, time.Now())
		if r.Departed() {
			f.Guesses().Forget(host)
		}
	}
}

// sharesOf returns what tenants have had of a replica at all gateways; nil where this one is alone.
func (m *membership) sharesOf(r *replica) gate.Shares {
	if m.group == nil {
		return nil
	}
	return m.group.Shares(r.peersKey())
}

// peersKey names the replica at all gateways, however they spell its URL.
func (r *replica) peersKey() uint64 {
	rank := ""
	if n, ranked := r.key.rank.Number(); ranked {
		rank = fmt.Sprint(n)
	}
	return peers.Key(config.SameURL(r.key.url), r.key.model, rank)
}

// linkOf returns how gateways reach each other.
func (o *Options) linkOf(c *config.Gateways) (peers.Link, error) {
	switch {
	case o.Link != nil:
		return o.Link, nil
	case c.NATS != nil:
		return natslink.New(natslink.Config{URL: c.NATS.URL, Creds: c.NATS.Creds, CA: c.NATS.CA, Bucket: c.NATS.Bucket,
			Name: c.Called(), Lease: c.Lease, Timeout: c.Timeout, Keep: c.Keys, MaxMessage: peers.MaxMessage,
			Log: o.Log})
	}
	return redislink.New(redislink.Config{Addr: c.Redis.Addr, Username: c.Redis.Username, Password: c.Redis.Password,
		DB: c.Redis.DB, Prefix: c.Redis.Bucket, Name: c.Called(), Lease: c.Lease, Timeout: c.Timeout,
		Keep: c.Keys, MaxMessage: peers.MaxMessage, Log: o.Log})
}

// shareConversations has the group told which specialist each conversation is with.
func (m *membership) shareConversations(s *gateway.Server) {
	if m.group != nil {
		s.Conversations().Told(m.group.Seated)
	}
}

// claimName takes the gateway's name, or refuses to start where another gateway has it. A store that cannot be asked
// keeps no gateway from starting.
func (m *membership) claimName(ctx context.Context) error {
	if m.group == nil {
		return nil
	}
	err := m.link.Claim(ctx)
	switch {
	case errors.Is(err, peers.ErrTaken):
		return fmt.Errorf("%w: gateways.name: a gateway called %s is running: give each its own name", ErrConfig,
			m.group.Name())
	case err != nil:
		m.group.Away(err)
	}
	return nil
}

// peer takes part among the gateways.
func (m *membership) run(ctx context.Context, running *sync.WaitGroup) {
	if m.group != nil {
		running.Go(func() { m.group.Run(ctx) })
	}
}

// groupReplicas has the group tell of the replicas in force.
func (m *membership) serve(present map[string]*replica) {
	if m.group == nil {
		return
	}
	list := make([]peering.Replica, 0, len(present))
	for _, r := range present {
		list = append(list, peering.Replica{Key: r.peersKey(), Fleet: r.served.Fleet, Gate: r.served.Gate})
	}
	m.group.Serve(list)
}

// defineKnobs puts the knobs of a configuration in force, with what any gateway has set of them.
func (a *App) defineKnobs(cfg *config.Config) {
	_ = a.history.knobs.Define(knobs(cfg)...) // build has tried the same
	if a.gateways.group != nil {
		a.gateways.group.KnobsDefined()
	}
}

// receiptFor returns a receipt that is kept here, for another gateway.
func receiptFor(s *gateway.Server, id string, forClient bool) (tenant string, text []byte, ok bool) {
	tenant, r, ok := s.Receipt(id)
	if !ok {
		return "", nil, false
	}
	var shown *receipt.Receipt = r
	if forClient {
		shown = r.ForClient()
	}
	text, err := json.Marshal(shown)
	return tenant, text, err == nil
}
