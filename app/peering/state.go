package peering

import (
	"cmp"
	"slices"
	"time"

	"octet/routing/peers"
)

// State is the group as operators see it: the answer of GET /admin/gateways.
type State struct {
	Name    string `json:"name"`
	Alone   bool   `json:"alone"`          // no other gateway counts
	Away    string `json:"away,omitempty"` // why the store cannot be asked; absent while it can be
	LeaseMs int64  `json:"lease_ms"`
	Peers   []Peer `json:"peers"`
	Holds   []Work `json:"holds"` // of this gateway's
	Counts
}

// Counts are of messages, since the start.
type Counts struct {
	Sent    uint64 `json:"sent"`
	Bytes   uint64 `json:"sent_bytes"`
	Failed  uint64 `json:"failed"`  // did not go
	Lost    uint64 `json:"lost"`    // of others, that did not come
	Refused uint64 `json:"refused"` // of others, that could not be read
	Dropped uint64 `json:"dropped"` // verdicts, conversations, tenants, starts and prompts that were too many
	// Idempotency keys that were used here alone: the store could not be asked.
	Unshared uint64 `json:"unshared_keys"`
}

// Peer is another gateway.
type Peer struct {
	Name    string    `json:"name"`
	Life    string    `json:"life"`
	Since   time.Time `json:"since"`
	AgeMs   int64     `json:"age_ms"` // of what it told last
	LeaseMs int64     `json:"lease_ms"`
	Lost    uint64    `json:"lost"` // messages of its that did not come
	Holds   []Work    `json:"holds"`
}

// Work is what a gateway has at one replica.
type Work struct {
	Replica string `json:"replica"` // its name here; empty if this gateway has no such replica
	Key     uint64 `json:"-"`
	Running int    `json:"running"` // sequences
	Waiting int    `json:"waiting"` // requests
	Urgent  *int   `json:"urgent,omitempty"`
	Backlog int    `json:"backlog_tokens"`
	Tokens  int    `json:"tokens"`
	Blocks  int    `json:"blocks"`
}

// State returns the group as it is now.
func (g *Group) State() State {
	now := time.Now()
	served := g.replicas.Load()
	own, names := served.gather(now), served.names()
	g.mu.Lock()
	list := g.roll.List(now)
	s := State{Name: g.cfg.Name, Alone: len(list) == 0, LeaseMs: g.cfg.Lease.Milliseconds(), Counts: g.counts()}
	if g.away != nil {
		s.Away = g.away.Error()
	}
	g.mu.Unlock()
	s.Holds = works(own, names)
	s.Peers = make([]Peer, len(list))
	for i, p := range list {
		s.Peers[i] = Peer{Name: p.Name, Life: p.Life, Since: p.Since, AgeMs: p.Age.Milliseconds(),
			LeaseMs: p.Lease.Milliseconds(), Lost: p.Lost, Holds: works(p.Work, names)}
	}
	return s
}

// Read returns what metrics tell: how many other gateways count, whether the store is away, and the counts.
func (g *Group) Read() (peers int, away bool, c Counts) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.roll.Peers(), g.away != nil, g.counts()
}

// counts is under mu.
func (g *Group) counts() Counts {
	c := Counts{Sent: g.sent, Bytes: g.bytes, Failed: g.failed, Dropped: g.news.dropped + g.shares.dropped(),
		Unshared: g.unshared.Load()}
	c.Lost, c.Refused = g.roll.Counts()
	return c
}

// names returns the names of the replicas by their keys.
func (s *replicas) names() map[uint64]string {
	names := map[uint64]string{}
	for _, r := range s.list {
		names[r.Key] = r.Fleet.Spec().Name
	}
	return names
}

func works(all map[uint64]peers.Work, names map[uint64]string) []Work {
	list := make([]Work, 0, len(all))
	for key, w := range all {
		if w.Idle() {
			continue
		}
		out := Work{Replica: names[key], Key: key, Running: w.Running, Waiting: w.Waiting, Backlog: w.Backlog,
			Tokens: w.Tokens, Blocks: w.Blocks}
		if w.Waiting > 0 {
			out.Urgent = &w.Urgent
		}
		list = append(list, out)
	}
	slices.SortFunc(list, func(a, b Work) int {
		return cmp.Or(cmp.Compare(a.Replica, b.Replica), cmp.Compare(a.Key, b.Key))
	})
	return list
}
