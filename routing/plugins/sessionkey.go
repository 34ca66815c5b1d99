package plugins

import (
	"cmp"
	"context"

	"github.com/zeebo/xxh3"

	"octet/routing"
)

// sessionKey writes a hash of the tenant and of what its requests have in common: the same word from two tenants is two
// sessions.
type sessionKey struct {
	named
	from   string
	header string // canonical; "" if none names the session
}

// newSessionKey: from (default session) is what makes a session: the X-Session-Id header (session), or all of a
// tenant's requests (tenant); header is another request header that names the session, before X-Session-Id:
// limits.profile_headers must list it.
func newSessionKey(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		s := sessionKey{named{"session-key", nil}, p.Text("from", "session", "session", "tenant"),
			p.Header("header")}
		if s.header != "" && s.from == "tenant" {
			p.Refuse("header is %s: a tenant's requests are one session", s.header)
		}
		return s
	}
}

// Writes implements routing.Preparer.
func (sessionKey) Writes() []routing.AnySlot { return reads(Session) }

// Prepare implements routing.Preparer. It never fails; without a session it writes nothing.
func (s sessionKey) Prepare(_ context.Context, c *routing.Context) error {
	f := c.View().Facts()
	id := f.Session
	switch {
	case s.from == "tenant":
		id = f.Tenant
	case s.header != "":
		id = cmp.Or(f.Headers.Value(s.header), id)
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
