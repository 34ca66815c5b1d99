package peers

import (
	"math"
	"time"

	"github.com/zeebo/xxh3"
)

// Shares is what tenants have had of all replicas lately, at all gateways: costs of what was started, in tokens of
// prompts, of which half counts after sharesHalf, a quarter after twice that, and so on. Not safe for concurrent use.
type Shares struct {
	had map[string]*had
}

type had struct {
	cost float64
	at   time.Time // of which cost is
}

// sharesHalf is the time after which half of a cost is forgotten.
const sharesHalf = 10 * time.Second

// mostShares bounds the tenants that are kept; one beyond them has had nothing.
const mostShares = 4096

// NewShares returns Shares of which none has had anything.
func NewShares() *Shares { return &Shares{had: map[string]*had{}} }

// Add counts what a tenant was started for, here or at another gateway.
func (s *Shares) Add(tenant string, cost float64, now time.Time) {
	h := s.had[tenant]
	if h == nil {
		if len(s.had) >= mostShares {
			s.forget(now)
		}
		if len(s.had) >= mostShares {
			return
		}
		h = &had{at: now}
		s.had[tenant] = h
	}
	h.cost, h.at = max(0, h.left(now)+cost), now
}

// Had returns what a tenant has had.
func (s *Shares) Had(tenant string, now time.Time) float64 {
	if h := s.had[tenant]; h != nil {
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

// forget drops the tenants of which next to nothing is left.
func (s *Shares) forget(now time.Time) {
	for tenant, h := range s.had {
		if h.left(now) < 1 {
			delete(s.had, tenant)
		}
	}
}

// TenantKey names a tenant in Work; never 0.
func TenantKey(tenant string) uint64 { return max(1, xxh3.HashString(tenant)) }
