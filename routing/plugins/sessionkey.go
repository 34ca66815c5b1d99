package plugins

import (
	"context"

	"github.com/zeebo/xxh3"

	"octet/routing"
)

// sessionKey writes a hash of the tenant and of what its requests have in common: the same word from two tenants is two
// sessions.
type sessionKey struct {
	named
	from string
}

// newSessionKey: from (default session) is what makes a session: the X-Session-Id header (session), or all of a
// tenant's requests (tenant).
func newSessionKey(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		return sessionKey{named{"session-key", nil}, p.Text("from", "session", "session", "tenant")}
	}
}

// Writes implements routing.Preparer.
func (sessionKey) Writes() []routing.AnySlot { return reads(Session) }

// Prepare implements routing.Preparer. It never fails; without a session it writes nothing.
func (s sessionKey) Prepare(_ context.Context, c *routing.Context) error {
	f := c.View().Facts()
	id := f.Session
	if s.from == "tenant" {
		id = f.Tenant
	}
	if id != "" {
		Session.Put(c, keyOf(xxh3.HashString(f.Tenant), xxh3.HashString(id)))
	}
	return nil
}

// keyOf mixes two hashes, in this order, and is never 0.
func keyOf(a, b uint64) uint64 { return mix(mix(a)+b) | 1 }

// mix spreads the bits of x: the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
