package app

import (
	"time"

	"octet/app/collectors"
	"octet/gateway/ensemble"
	"octet/routing"
	"octet/routing/events/enginehash"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/plugins"
	"octet/scheduler/gate"
)

// specialistPipeline is what the gateway asks of one specialist's plugins, and of what is known of its replicas'
// caches.
type specialistPipeline struct {
	shared    *specialists
	protocols []func() ensemble.Protocol // by the way of the workflow; nil where one replica serves a request
	route     *collectors.Route
	// by which engines name blocks, and prompts are hashed; nil if the latter is our own way
	scheme *enginehash.Scheme
}

// Seed implements ensemble.Pipeline.
func (*specialistPipeline) Seed(c *routing.Context, s *fleet.Snapshot) { plugins.Fleet.Put(c, s) }

// Footprint implements ensemble.Pipeline.
func (*specialistPipeline) Footprint(v routing.View, f *ensemble.Footprint) {
	f.Chain, f.Tokens = plugins.BlockHashes.Get(v), plugins.PromptTokens.Get(v)
	others := plugins.Others.Get(v)
	f.Exact = !plugins.Chunks.Get(v) && !others.Guessed
	f.Rest = gate.Further{Prompts: others.Prompts, Tokens: others.Tokens, Blocks: others.Blocks, Tail: others.Tail}
	f.Longest = others.Longest
}

// Protocol implements ensemble.Pipeline.
func (p *specialistPipeline) Protocol(way int) ensemble.Protocol {
	if protocol := p.protocols[way]; protocol != nil {
		return protocol()
	}
	return ensemble.Plain{}
}

// Planned implements ensemble.Pipeline.
func (p *specialistPipeline) Planned(c *routing.Context, plan routing.Plan, err error, took time.Duration) {
	p.route.Planned(c, plan, err, took)
}

// Depths implements ensemble.Insight.
func (*specialistPipeline) Depths(v routing.View) *[index.MaxHosts]uint16 {
	return plugins.Depths.Get(v)
}

// Held implements ensemble.Insight.
func (p *specialistPipeline) Held(v routing.View, host index.HostID) int {
	return p.shared.beliefs.Held(plugins.BlockHashes.Get(v), host)
}

// Tiers implements ensemble.Insight, by the events of the replica.
func (p *specialistPipeline) Tiers(v routing.View, host index.HostID, blocks int) ensemble.InTiers {
	if !p.shared.beliefs.Heard(host) {
		return ensemble.InTiers{}
	}
	held := p.shared.index.InTiers(host, plugins.BlockHashes.Get(v), blocks, 1)
	if gone := plugins.Fleet.Get(v).Departed(); gone.Has(host) {
		return ensemble.InTiers{}
	}
	return held
}

// Foretell implements ensemble.Evidence.
func (p *specialistPipeline) Foretell(v routing.View, host index.HostID, believed int) (known, all int) {
	return p.shared.beliefs.Foretell(plugins.BlockHashes.Get(v), host, believed)
}

// Delivered implements ensemble.Evidence.
func (p *specialistPipeline) Delivered(r *ensemble.Replica, known, all, delivered int) {
	if !r.Fleet.Departed() {
		p.shared.beliefs.Delivered(r.Host, known, all, delivered)
	}
}

// Routed implements ensemble.Insight: it notes which prompt a replica is sent. If the replica's slot has been given
// away meanwhile, all guesses of the slot are dropped: nothing of one replica is believed of the next.
func (p *specialistPipeline) Routed(v routing.View, r *ensemble.Replica, now time.Time) {
	if r.Fleet.Departed() {
		return
	}
	chain := plugins.BlockHashes.Get(v)
	if !plugins.Chunks.Get(v) {
		p.shared.beliefs.Owe(r.Host, chain, now)
	}
	p.shared.beliefs.Routed(r.Host, chain, now)
	if p.shared.group != nil && !p.shared.beliefs.Heard(r.Host) {
		p.shared.group.Routed(r.Host, chain, now)
	}
	if f := v.Facts(); p.scheme != nil && !plugins.Chunks.Get(v) && p.scheme.Knows(f.Adapter, f.Salt) {
		p.shared.beliefs.Expect(r.Host, chain, now)
	}
	if r.Fleet.Departed() {
		p.shared.guesses.Forget(r.Host)
	}
}
