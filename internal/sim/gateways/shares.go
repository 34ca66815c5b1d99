package gateways

import (
	"time"

	"octet/routing/peers"
	"octet/routing/peers/peerspb"
	"octet/scheduler/gate"
)

// shares is what tenants, of equal weights, have had, as one gateway knows it: app/peering's, with another clock.
type shares struct {
	clock func() time.Time
	had   *peers.Shares
	told  map[string]uint64 // since news
}

// Key implements gate.Shares.
func (s *shares) Key(tenant string) uint64 { return peers.TenantKey(tenant) }

// Had implements gate.Shares.
func (s *shares) Had(tenant string) int { return int(s.had.Had(tenant, s.clock())) }

// Started implements gate.Shares.
func (s *shares) Started(tenant string, cost int) {
	s.had.Add(tenant, float64(cost), s.clock())
	s.told[tenant] += uint64(cost)
}

// news returns a message of what was started since the last call; nil for nothing.
func (s *shares) news() *peerspb.Message {
	if len(s.told) == 0 {
		return nil
	}
	m := new(peerspb.Message)
	for tenant, cost := range s.told {
		m.Used = append(m.Used, &peerspb.Used{Tenant: tenant, Started: cost})
	}
	clear(s.told)
	return m
}

// sharing returns the shares of a gateway that is one of several; nil if it is not.
func (g *gateway) sharing() gate.Shares {
	if g.shares == nil {
		return nil
	}
	return g.shares
}
