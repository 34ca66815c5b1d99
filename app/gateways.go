package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"octet/app/peering"
	"octet/config"
	"octet/gateway/receipt"
	"octet/gateway/tenant"
	"octet/kvpool"
	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/routing/peers/natslink"
	"octet/routing/peers/redislink"
	"octet/scheduler/gate"
)

// joinGroup makes this gateway one of several, if the configuration has any.
func (a *App) joinGroup(cfg *config.Config, hasher kvpool.Hasher) error {
	if cfg.Gateways == nil {
		return nil
	}
	link, err := a.linkOf(cfg.Gateways)
	if err != nil {
		return fmt.Errorf("%w: gateways: %w", ErrConfig, err)
	}
	a.link = link
	a.group = peering.New(peering.Config{Name: cfg.Gateways.Called(), Lease: cfg.Gateways.Lease, Link: link, Log: a.Log,
		Count: cfg.Gateways.Count, Knobs: a.history.knobs, Receipt: a.receiptFor, Judged: a.history.hear,
		Weight:  func(name string) int { return a.tenancy.weight(name) },
		Judge:   func(j receipt.Judgement) (counted, found bool, refused string) { return a.server.Judge(j) },
		KeyOpen: func(tenant, key string) bool { return a.server.KeyOpen(tenant, key) },
		Seated: func(conversation uint64, specialist string, tokens int) {
			a.server.Conversations().Adopt(conversation, specialist, tokens)
		},
		Routed: a.routedElsewhere, Hashing: uint64(hasher.Root("gateways", "", "")),
		Divided: func(parts int) { a.parts.Store(int32(parts)) },
		Used:    func(name string, u tenant.Used) { a.server.Runtime().Tenants.Elsewhere(name, u, time.Now()) }})
	a.history.told = a.group.Judged
	return nil
}

// routedElsewhere notes which prompt another gateway has sent to a replica, unless the replica's events tell.
func (a *App) routedElsewhere(r *fleet.Replica, chain []kvpool.BlockHash) {
	host := r.Spec().Host
	if r.Departed() || a.fabric.Beliefs().Heard(host) {
		return
	}
	a.fabric.Beliefs().Routed(host, chain, time.Now())
	if r.Departed() {
		a.fabric.Guesses().Forget(host)
	}
}

// sharesOf returns what tenants have had of a replica at all gateways; nil where this one is alone.
func (a *App) sharesOf(r *replica) gate.Shares {
	if a.group == nil {
		return nil
	}
	return a.group.Shares(r.peersKey())
}

// peersKey names the replica at all gateways, however they spell its URL.
func (r *replica) peersKey() uint64 {
	rank := ""
	if n, ranked := r.key.rank.Number(); ranked {
		rank = fmt.Sprint(n)
	}
	return peers.Key(config.SameURL(r.key.url), r.key.model, rank)
}

func (a *App) linkOf(c *config.Gateways) (peers.Link, error) {
	switch {
	case a.Link != nil:
		return a.Link, nil
	case c.NATS != nil:
		return natslink.New(natslink.Config{URL: c.NATS.URL, Creds: c.NATS.Creds, CA: c.NATS.CA, Bucket: c.NATS.Bucket,
			Name: c.Called(), Lease: c.Lease, Timeout: c.Timeout, Keep: c.Keys, MaxMessage: peers.MaxMessage,
			Log: a.Log})
	}
	return redislink.New(redislink.Config{Addr: c.Redis.Addr, Username: c.Redis.Username, Password: c.Redis.Password,
		DB: c.Redis.DB, Prefix: c.Redis.Bucket, Name: c.Called(), Lease: c.Lease, Timeout: c.Timeout,
		Keep: c.Keys, MaxMessage: peers.MaxMessage, Log: a.Log})
}

// shareConversations has the group told which specialist each conversation is with.
func (a *App) shareConversations() {
	if a.group != nil {
		a.server.Conversations().Told(a.group.Seated)
	}
}

// claimName takes the gateway's name, or refuses to start where another gateway has it. A store that cannot be asked
// keeps no gateway from starting.
func (a *App) claimName(ctx context.Context) error {
	if a.group == nil {
		return nil
	}
	err := a.link.Claim(ctx)
	switch {
	case errors.Is(err, peers.ErrTaken):
		return fmt.Errorf("%w: gateways.name: a gateway called %s is running: give each its own name", ErrConfig,
			a.group.Name())
	case err != nil:
		a.group.Away(err)
	}
	return nil
}

// peer takes part among the gateways.
func (a *App) peer(ctx context.Context, running *sync.WaitGroup) {
	if a.group != nil {
		running.Go(func() { a.group.Run(ctx) })
	}
}

// groupReplicas has the group tell of the replicas in force.
func (a *App) groupReplicas(present map[string]*replica) {
	if a.group == nil {
		return
	}
	list := make([]peering.Replica, 0, len(present))
	for _, r := range present {
		list = append(list, peering.Replica{Key: r.peersKey(), Fleet: r.served.Fleet, Gate: r.served.Gate})
	}
	a.group.Serve(list)
}

// defineKnobs puts the knobs of a configuration in force, with what any gateway has set of them.
func (a *App) defineKnobs(cfg *config.Config) {
	_ = a.history.knobs.Define(knobs(cfg)...) // build has tried the same
	if a.group != nil {
		a.group.KnobsDefined()
	}
}

// receiptFor returns a receipt that is kept here, for another gateway.
func (a *App) receiptFor(id string, forClient bool) (tenant string, text []byte, ok bool) {
	tenant, r, ok := a.server.Receipt(id)
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
