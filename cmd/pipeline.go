package cmd

import (
	"time"

	"octet/gateway/ensemble"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
	"octet/scheduler/gate"
)

// pipeline is what the gateway asks of one specialist's plugins, and of what is known of its replicas' caches.
type pipeline struct {
	house    *house
	protocol func() ensemble.Protocol // nil if one replica does it all
	watch    *measured
}

// Seed implements ensemble.Pipeline.
func (*pipeline) Seed(c *routing.Context, s *fleet.Snapshot) { plugins.Fleet.Put(c, s) }

// Footprint implements ensemble.Pipeline.
func (*pipeline) Footprint(v routing.View, f *ensemble.Footprint) {
	f.Chain, f.Tokens = plugins.BlockHashes.Get(v), plugins.PromptTokens.Get(v)
	others := plugins.Others.Get(v)
	f.Exact = !plugins.Chunks.Get(v) && !others.Guessed
	f.Rest = gate.Further{Prompts: others.Prompts, Tokens: others.Tokens, Blocks: others.Blocks, Tail: others.Tail}
	f.Longest = others.Longest
}

// Protocol implements ensemble.Pipeline.
func (p *pipeline) Protocol() ensemble.Protocol {
	if p.protocol == nil {
		return ensemble.Plain{}
	}
	return p.protocol()
}

// Planned implements ensemble.Pipeline.
func (p *pipeline) Planned(c *routing.Context, plan routing.Plan, err error, took time.Duration) {
	p.watch.planned(c, plan, err, took)
}

// Depths implements ensemble.Insight.
func (*pipeline) Depths(v routing.View) *[index.MaxHosts]uint16 { return plugins.Depths.Get(v) }

// Held implements ensemble.Insight.
func (p *pipeline) Held(v routing.View, host index.HostID) int {
	return p.house.beliefs.held(plugins.BlockHashes.Get(v), host)
}

// Tiers implements ensemble.Insight, by the events of the replica.
func (p *pipeline) Tiers(v routing.View, host index.HostID, blocks int) ensemble.InTiers {
	if !p.house.beliefs.told.Load().Has(host) {
		return ensemble.InTiers{}
	}
	held := p.house.index.InTiers(host, plugins.BlockHashes.Get(v), blocks)
	if gone := plugins.Fleet.Get(v).Departed(); gone.Has(host) {
		return ensemble.InTiers{}
	}
	return held
}

// Routed implements ensemble.Insight: it notes which prompt a replica is sent. If the replica's slot has been given away
// meanwhile, all guesses of the slot are dropped: nothing of one replica is believed of the next.
func (p *pipeline) Routed(v routing.View, r *ensemble.Replica, now time.Time) {
	if r.Fleet.Departed() {
		return
	}
	p.house.beliefs.routedAt(r.Host, plugins.BlockHashes.Get(v), now)
	if r.Fleet.Departed() {
		p.house.beliefs.approx.Forget(r.Host)
	}
}
