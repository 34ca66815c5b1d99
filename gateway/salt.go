package gateway

import (
	"octet/gateway/ensemble"
	"octet/gateway/wire"
)

// saltKey is the member of a body that keeps prefix caches apart, where an engine knows it.
const saltKey = "cache_salt"

// salted is what one request says of its salt.
type salted struct {
	salt  string // see Tenant.Salt
	asked bool   // by the client: its own word must not reach an engine
}

// salted returns the request's salt.
func (x *exchange) salted() salted {
	asked := ""
	if raw := x.req.Raw(saltKey); len(raw) > 2 && raw[0] == '"' {
		asked = string(wire.AppendUnquoted(nil, raw[1:len(raw)-1]))
	}
	return salted{salt: x.tenant.Salt(asked), asked: asked != ""}
}

// edits appends the member of the body by which a replica's engine keeps caches apart. One whose kind cannot is sent
// none of ours.
func (s salted) edits(rep *ensemble.Replica, edits []wire.Edit) []wire.Edit {
	if s.salt == "" || !s.asked && !rep.Kind.TakesSalt {
		return edits
	}
	return append(edits, wire.Edit{Key: saltKey, Raw: wire.AppendQuoted(nil, s.salt)})
}
