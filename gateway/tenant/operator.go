package tenant

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
)

// WithOperator has the admin token be the key of a tenant of its own, as c says, for requests that name a replica. With
// an empty token nothing changes. It is called before t is used.
func (t *Table) WithOperator(token string, c Config) {
	if token == "" {
		return
	}
	t.token = sha256.Sum256([]byte(token))
	c.KeySHA256, c.MayDirect = hex.EncodeToString(t.token[:]), true
	t.operator = newTenant(c, nil, Sharing{})
}

// ByToken returns the operators' tenant; nil if the Authorization header does not have the admin token.
func (t *Table) ByToken(authorization string) *Tenant {
	key, given := BearerKey(authorization)
	if t.operator == nil || !given {
		return nil
	}
	if digest := sha256.Sum256([]byte(key)); subtle.ConstantTimeCompare(digest[:], t.token[:]) != 1 {
		return nil
	}
	return t.operator
}
