package peering

import (
	"sync"
	"time"

	"octet/routing/peers"
	"octet/routing/peers/peerspb"
	"octet/scheduler/gate"
)

// shares is what tenants have had of all replicas, here and at the other gateways. Safe for concurrent use; nothing is
// called under its mutex.
type shares struct {
	weight func(tenant string) int // nil or below 1 is 1

	mu   sync.Mutex
	had  *peers.Shares
	told map[string]uint64 // what was started here since news, by tenant
}

func newShares(weight func(tenant string) int) *shares {
	return &shares{weight: weight, had: peers.NewShares(), told: map[string]uint64{}}
}

// Shares returns what tenants have had, for the Gates.
func (g *Group) Shares() gate.Shares { return g.shares }

// Key implements gate.Shares.
func (s *shares) Key(tenant string) uint64 { return peers.TenantKey(tenant) }

// Had implements gate.Shares.
func (s *shares) Had(tenant string) int {
	weight := 1
	if s.weight != nil {
		weight = max(1, s.weight(tenant))
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.had.Had(tenant, now)) / weight
}

// Started implements gate.Shares.
func (s *shares) Started(tenant string, cost int) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had.Add(tenant, float64(cost), now)
	if _, known := s.told[tenant]; known || len(s.told) < mostTenants {
		s.told[tenant] += uint64(max(cost, 0))
	}
}

// elsewhere counts what another gateway has started.
func (s *shares) elsewhere(tenant string, cost uint64, now time.Time) {
	if cost == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had.Add(tenant, float64(min(cost, mostUsed)), now)
}

// write adds what was started since the last call to a message, and forgets it; a nil message is made if there is any.
// Without other gateways nothing is told.
func (s *shares) write(m *peerspb.Message, others int) *peerspb.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.told) > 0 && others > 0 && m == nil {
		m = new(peerspb.Message)
	}
	for tenant, cost := range s.told {
		if others > 0 {
			m.Used = append(m.Used, &peerspb.Used{Tenant: tenant, Started: cost})
		}
	}
	clear(s.told)
	return m
}
