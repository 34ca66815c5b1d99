package tenant

import (
	"crypto/sha256"
	"crypto/subtle"
)

// WithOperator has the admin token be the key of a tenant of its own, as c says, for requests that name a replica. With
// an empty token there is the tenant, and no key of it. It is called before t is used.
func (t *Table) WithOperator(token string, c Config) {
	c.MayDirect = true
	if t.keyed = token != ""; t.keyed {
		t.token = sha256.Sum256([]byte(token))
	}
	c.ShareCache = c.ShareCache || !t.keyed
	t.operator = newTenant(c, nil, Sharing{})
}

// Operator returns the operators' tenant, for what comes by the admin listener; nil if there is none.
func (t *Table) Operator() *Tenant { return t.operator }

// ByToken returns the operators' tenant; nil if the Authorization header does not have the admin token.
func (t *Table) ByToken(authorization string) *Tenant {
	key, given := BearerKey(authorization)
	if !t.keyed || !given {
		return nil
	}
	if digest := sha256.Sum256([]byte(key)); subtle.ConstantTimeCompare(digest[:], t.token[:]) != 1 {
		return nil
	}
	return t.operator
}
