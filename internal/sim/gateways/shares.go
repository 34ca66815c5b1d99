package gateways

import (
	"time"

	"octet/routing/peers"
	"octet/scheduler/gate"
)

// shares is what tenants, of equal weights, have had of one engine, as one gateway knows it.
type shares struct {
	clock  func() time.Time
	known  *peers.Shares
	engine uint64
}

// Key implements gate.Shares.
func (s shares) Key(tenant string) uint64 { return peers.TenantKey(tenant) }

// Had implements gate.Shares.
func (s shares) Had(tenant string, priority int) int {
	return int(s.known.Had(s.engine, peers.Share{Tenant: tenant, Priority: priority}, s.clock()))
}

// Started implements gate.Shares.
func (s shares) Started(tenant string, priority, cost int) {
	s.known.Start(s.engine, peers.Share{Tenant: tenant, Priority: priority}, cost, s.clock())
}

// sharing returns the shares of an engine at a gateway that is one of several; nil if it is not.
func (g *gateway) sharing(engine uint64) gate.Shares {
	if g.shares == nil {
		return nil
	}
	return shares{g.clock, g.shares, engine}
}
