package gateways

import (
	"context"
	"fmt"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/approx"
	"octet/routing/belief"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/index/runs"
	"octet/routing/peers"
	"octet/routing/plugins"
	"octet/scheduler/gate"
)

// specialist is the only one.
const specialist = "sim"

// origin is the wall clock's reading when virtual time begins.
var origin = time.Unix(0, 0)

// gateway is one of them.
type gateway struct {
	name     string
	number   int
	profile  *routing.Profile
	fleet    *fleet.Fleet
	snapshot *fleet.Snapshot
	beliefs  *belief.Beliefs
	index    index.Indexer // of the beliefs: what events tell
	doors    []door        // by host
	prompt   []uint32      // of the request that is being routed

	clock   func() time.Time
	shares  *peers.Shares // nil if it is not one of several
	teller  *peers.Teller
	roll    *peers.Roll
	applies time.Duration // messages that come from then on at once
	ticks   bool          // a look is due at the next tick
	firsts  time.Duration // when it was told last how long first tokens took
}

// door is a gateway's side of one engine.
type door struct {
	key     uint64 // see peers.Key
	member  *fleet.Replica
	model   *gate.Model
	waiting map[*gate.Waiter]*life // never iterated
	assumed peers.Work             // that gateways have which are not heard
}

func newGateway(c *Config, number int, hasher kvpool.Hasher, clock func() time.Time) (*gateway, error) {
	g := &gateway{name: fmt.Sprintf("gw-%d", number), number: number, clock: clock, fleet: fleet.New()}
	if c.Gateways > 1 && !c.Apart {
		g.shares = peers.NewShares()
	}
	g.teller, g.roll = peers.NewTeller(g.name, 1, lease), peers.NewRoll(g.name, 1)
	x, err := runs.New(index.Config{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, err)
	}
	g.index = x
	guesses, err := approx.New(approx.Config{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, err)
	}
	g.beliefs = belief.New(belief.Config{
		Index: x, Guesses: guesses, TTL: predictTTL, Differ: func() (none index.HostBitmap) { return none },
		Cleared: func(index.HostID) {}, Patience: func() time.Duration { return 0 },
	})
	for host := range c.Engines.Replicas {
		if err := g.open(c, index.HostID(host), x); err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
	}
	g.snapshot = g.fleet.Snapshot(specialist)
	spec, _ := plugins.Preset("default")
	g.profile, err = routing.Build(plugins.Complete(spec, true), plugins.Registry(plugins.Deps{
		Index: g.beliefs, Tiers: g.beliefs, Hasher: hasher, Tokenizer: tokenizer{g},
		Seed: c.Engines.Seed + uint64(number),
	}))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, err)
	}
	return g, nil
}

// open makes the door to an engine.
func (g *gateway) open(c *Config, host index.HostID, x index.Indexer) error {
	e := &c.Engines
	name := fmt.Sprintf("engine-%d", host)
	key := peers.Key("http://"+name, "", "")
	member, err := g.fleet.Put(fleet.Spec{
		Name: name, Specialist: specialist, URL: "http://" + name, Host: host, Blocks: e.Blocks,
		BlockSize: e.BlockSize, MaxRunning: e.MaxRunning, HasEvents: true,
	})
	if err != nil {
		return err
	}
	model, err := gate.NewModel(gate.Config{Blocks: e.Blocks, BlockSize: e.BlockSize, MaxRunning: e.MaxRunning,
		MaxWaiting: maxWaiting, MaxWait: maxWait, Shares: g.sharing(key)}, origin)
	if err != nil {
		return err
	}
	if err := x.Admit(host); err != nil {
		return err
	}
	g.beliefs.Begin(host, approx.DefaultTTL, e.Blocks)
	member.SampleFrom(func() fleet.Load { return loadOf(model, member.Reported()) })
	member.QueueFrom(func() (int, bool) { return member.Reported().Waiting, model.Preempting() })
	g.doors = append(g.doors, door{key: key, member: member, model: model,
		waiting: map[*gate.Waiter]*life{}})
	return nil
}

// knows returns how many leading blocks of chain an engine holds, as its events tell.
func (g *gateway) knows(chain []kvpool.BlockHash, host index.HostID) int {
	var out [index.MaxHosts]uint16
	g.index.Depths(chain, index.HostSet(host), &out)
	return int(out[host])
}

// loadOf is what app says of a replica's load: what the Gate knows, and what only the engine could tell.
func loadOf(m *gate.Model, told *fleet.Reported) fleet.Load {
	s := m.Stats()
	return fleet.Load{Waiting: told.Waiting, Running: s.Running + told.Others, Preempting: s.Preempting,
		KVUsage: float64(s.Total-s.Free) / float64(s.Total)}
}

// tokenizer knows the prompt of the request that is being routed.
type tokenizer struct{ gateway *gateway }

// Tokenize implements plugins.Tokenizer.
func (t tokenizer) Tokenize(_ context.Context, _ string, _ *routing.Facts, dst []uint32) ([]uint32, error) {
	return append(dst, t.gateway.prompt...), nil
}
