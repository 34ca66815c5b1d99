package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Salt returns the salt that separates the tenant's prompts from others in prefix caches, the engines' and the index:
// the tenant's own, or the one that the client asks for, bound to its tenant so that no client can name another's.
// "" is the cache that requests without a key share, and tenants under auth.share_cache.
func (t *Tenant) Salt(asked string) string {
	if asked == "" {
		return t.CacheSalt
	}
	return deriveSalt(t.secret, "client", t.Name, t.CacheSalt, asked)
}

// deriveSalt makes a salt of 22 characters, which does not reveal the parts and cannot be made without the secret.
func deriveSalt(secret []byte, parts ...string) string {
	mac := hmac.New(sha256.New, secret)
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		mac.Write(length[:]) // never fails
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}
