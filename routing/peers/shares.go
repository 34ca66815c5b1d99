package peers

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"octet/routing/peers/peerspb"
)

// Shares is what tenants have had of each replica lately, at all gateways: costs of what was started, in tokens of
// prompts, of which half counts after sharesHalf, a quarter after twice that, and so on. Not safe for concurrent use.
type Shares struct {
	had  map[uint64]map[Share]*had // by replica, see Key
	told map[started]int64         // what was started here since Write

	dropped uint64 // starts that were too many to be told
}

// Share is what a tenant has of a replica by its requests of one priority, as age has lifted it: those of another
// priority take nothing of it.
type Share struct {
	Tenant   string
	Priority int
}

type started struct {
	replica uint64
	Share
}

func (s started) compare(o started) int {
	return cmp.Or(cmp.Compare(s.replica, o.replica), strings.Compare(s.Tenant, o.Tenant),
		cmp.Compare(s.Priority, o.Priority))
}

type had struct {
	cost float64
	at   time.Time // of which cost is
}

// sharesHalf is the time after which half of a cost is forgotten.
const sharesHalf = 10 * time.Second

// Bounds: of the shares of a replica that are kept, one beyond them has had nothing; of those that a message tells; and
// of what one of these may cost.
const (
	mostShares = 4096
	mostTold   = 1024
	mostCost   = 1 << 30
)

// NewShares returns Shares of which none has had anything.
func NewShares() *Shares {
	return &Shares{had: map[uint64]map[Share]*had{}, told: map[started]int64{}}
}

// Start counts what was started here, and has it told. A negative cost is given back.
func (s *Shares) Start(replica uint64, of Share, cost int, now time.Time) {
	s.add(replica, of, cost, now)
	key := started{replica, of}
	if _, known := s.told[key]; !known && len(s.told) >= mostTold {
		s.dropped++
		return
	}
	s.told[key] += int64(cost)
}

// Hear counts what another gateway has started, and returns it as Start was told of it.
func (s *Shares) Hear(m *peerspb.Started, now time.Time) (replica uint64, of Share, cost int) {
	of = Share{m.GetTenant(), int(m.GetPriority())}
	cost = int(min(max(m.GetCost(), -mostCost), mostCost))
	s.add(m.GetReplica(), of, cost, now)
	return m.GetReplica(), of, cost
}

func (s *Shares) add(replica uint64, of Share, cost int, now time.Time) {
	shares := s.had[replica]
	if shares == nil {
		shares = map[Share]*had{}
		s.had[replica] = shares
	}
	h := shares[of]
	if h == nil {
		if len(shares) >= mostShares {
			forget(shares, now)
		}
		if len(shares) >= mostShares {
			return
		}
		h = &had{at: now}
		shares[of] = h
	}
	h.cost, h.at = max(0, h.left(now)+float64(cost)), now
}

// Had returns what a tenant has had.
func (s *Shares) Had(replica uint64, of Share, now time.Time) float64 {
	if h := s.had[replica][of]; h != nil {
		return h.left(now)
	}
	return 0
}

func (h *had) left(now time.Time) float64 {
	if d := now.Sub(h.at); d > 0 {
		return h.cost * math.Exp2(-float64(d)/float64(sharesHalf))
	}
	return h.cost
}

// forget drops the shares of which next to nothing is left.
func forget(shares map[Share]*had, now time.Time) {
	for of, h := range shares {
		if h.left(now) < 1 {
			delete(shares, of)
		}
	}
}

// Keep forgets what tenants have had of the replicas that are not served.
func (s *Shares) Keep(served func(replica uint64) bool) {
	for replica := range s.had {
		if !served(replica) {
			delete(s.had, replica)
		}
	}
}

// Write adds what was started here since the last call to a message, and forgets it; a nil message is made if there is
// any. Where it is for no gateway nothing is written.
func (s *Shares) Write(m *peerspb.Message, others int) *peerspb.Message {
	if len(s.told) > 0 && others > 0 && m == nil {
		m = new(peerspb.Message)
	}
	for _, of := range slices.SortedFunc(maps.Keys(s.told), started.compare) {
		if cost := s.told[of]; others > 0 && cost != 0 {
			m.Started = append(m.Started, &peerspb.Started{Replica: of.replica, Tenant: of.Tenant,
				Priority: int32(of.Priority), Cost: cost})
		}
	}
	clear(s.told)
	return m
}

// Dropped returns how many starts were too many to be told.
func (s *Shares) Dropped() uint64 { return s.dropped }

// TenantKey names a tenant in Work; never 0.
func TenantKey(tenant string) uint64 { return max(1, xxh3.HashString(tenant)) }
