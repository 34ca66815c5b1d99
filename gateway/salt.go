package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"octet/gateway/wire"
)

// saltKey is the member of a body that keeps prefix caches apart, where an engine knows it.
const saltKey = "cache_salt"

// Salt returns what a tenant's prompts are kept apart by, in the engines' caches and in what is known of them: the
// tenant's own salt, or, if the client asks for one, that one bound to its tenant, so that no client can say another
// tenant's. "" is the cache that requests without a key share, and tenants under auth.share_cache.
func (t *Tenant) Salt(asked string) string {
	if asked == "" {
		return t.CacheSalt
	}
	return deriveSalt(t.secret, "client", t.Name, t.CacheSalt, asked)
}

// deriveSalt makes a salt of 22 characters, which tells nothing of the parts, that nobody makes without the secret.
func deriveSalt(secret []byte, parts ...string) string {
	mac := hmac.New(sha256.New, secret)
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:]) // a hash takes whatever it is given
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

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
func (s salted) edits(rep *Replica, edits []wire.Edit) []wire.Edit {
	if s.salt == "" || !s.asked && !rep.Kind.TakesSalt {
		return edits
	}
	return append(edits, wire.Edit{Key: saltKey, Raw: wire.AppendQuoted(nil, s.salt)})
}
