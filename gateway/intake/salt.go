package intake

import (
	"octet/gateway/ensemble"
	"octet/gateway/wire"
)

// SaltKey is the member of a body that keeps prefix caches apart, where an engine knows it.
const SaltKey = "cache_salt"

// Salted is the cache salt of one request.
type Salted struct {
	Salt  string // see Tenant.Salt
	asked bool   // the client asked for one: its own word must not reach an engine
}

// Salted returns the request's salt.
func (q *Request) Salted() Salted {
	asked := q.text(SaltKey)
	return Salted{Salt: q.Tenant.Salt(asked), asked: asked != ""}
}

// Edits appends the member of the body by which a replica's engine keeps caches apart. One whose kind cannot is sent
// none of ours.
func (s Salted) Edits(rep *ensemble.Replica, edits []wire.Edit) []wire.Edit {
	if s.Salt == "" || !s.asked && !rep.Kind.TakesSalt {
		return edits
	}
	return append(edits, wire.Edit{Key: SaltKey, Raw: wire.AppendQuoted(nil, s.Salt)})
}
