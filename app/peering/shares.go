package peering

import (
	"sync"
	"time"

	"octet/routing/peers"
	"octet/routing/peers/peerspb"
	"octet/scheduler/gate"
)

// shares is what tenants have had of each replica, here and at the other gateways. Safe for concurrent use; nothing is
// called under its mutex.
type shares struct {
	weight func(tenant string) int // nil or below 1 is 1

	mu    sync.Mutex
	known *peers.Shares
	told  time.Time
}

func newShares(weight func(tenant string) int) *shares {
	return &shares{weight: weight, known: peers.NewShares()}
}

// Shares returns what tenants have had of the replica of that key, for its Gate.
func (g *Group) Shares(replica uint64) gate.Shares { return replicaShares{g.shares, replica} }

// replicaShares is the shares of one replica.
type replicaShares struct {
	of      *shares
	replica uint64
}

// Key implements gate.Shares.
func (r replicaShares) Key(tenant string) uint64 { return peers.TenantKey(tenant) }

// Had implements gate.Shares.
func (r replicaShares) Had(tenant string, priority int) int {
	weight, now := 1, time.Now()
	if r.of.weight != nil {
		weight = max(1, r.of.weight(tenant))
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return int(r.of.known.Had(r.replica, peers.Share{Tenant: tenant, Priority: priority}, now)) / weight
}

// Started implements gate.Shares.
func (r replicaShares) Started(tenant string, priority, cost int) {
	now := time.Now()
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.known.Start(r.replica, peers.Share{Tenant: tenant, Priority: priority}, cost, now)
}

// hear counts what another gateway has started.
func (s *shares) hear(m *peerspb.Started, now time.Time) (replica uint64, of peers.Share, cost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.Hear(m, now)
}

// startsEvery is how often it is told what was started, at most: shares are of seconds, and a sum of many starts is as
// cheap to tell as one.
const startsEvery = 5 * Every

// write is peers.Shares.Write, where it is due.
func (s *shares) write(m *peerspb.Message, others int, now time.Time) *peerspb.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.told) < startsEvery {
		return m
	}
	s.told = now
	return s.known.Write(m, others)
}

// due has the next write write what was started since the last one.
func (s *shares) due() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = time.Time{}
}

// keep forgets the replicas that are not served.
func (s *shares) keep(served map[uint64][]*Replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Keep(func(replica uint64) bool { return served[replica] != nil })
}

// dropped returns how many starts were too many to be told.
func (s *shares) dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.Dropped()
}
