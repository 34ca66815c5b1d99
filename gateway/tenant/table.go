package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"octet/gateway/apierr"
)

// Config is one tenant of the configuration.
type Config struct {
	Name           string
	KeySHA256      string // 64 hex digits; unused for the anonymous tenant
	PriorityMax    int
	RefusePriority bool
	Specialists    []string
	MayDirect      bool
	CacheSalt      string
	Secret         []byte // from which salts are derived
	// without CacheSalt: true shares the cache with all tenants that have none, false derives a salt of its own
	ShareCache        bool
	MaxStreams        int     // zero means no limit
	RequestsPerSecond float64 // zero means no limit
	Burst             int
	TokensPerMinute   int // zero means no limit
}

// Table finds the tenant of a request. Immutable.
type Table struct {
	byKey     map[[sha256.Size]byte]*Tenant
	anonymous *Tenant // nil if a key is required
	operator  *Tenant // of operators' own requests; nil before WithOperator
	keyed     bool    // token is the key of operator, for requests that name a replica
	token     [sha256.Size]byte
}

// NewTable builds a Table; a nil anonymous means that a key is required. A tenant of the same name in earlier hands on
// its open streams, and its limiters if their rates are the same: a reload does not refill a quota.
func NewTable(list []Config, anonymous *Config, earlier *Table, sharing Sharing) (*Table, error) {
	t := &Table{byKey: make(map[[sha256.Size]byte]*Tenant, len(list))}
	for _, c := range list {
		raw, err := hex.DecodeString(c.KeySHA256)
		if err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("tenant %s: key_sha256 is not %d hex digits", c.Name, 2*sha256.Size)
		}
		t.byKey[[sha256.Size]byte(raw)] = newTenant(c, earlier, sharing)
	}
	if anonymous != nil {
		t.anonymous = newTenant(*anonymous, earlier, sharing)
		t.anonymous.Keyless = true
	}
	return t, nil
}

func newTenant(c Config, earlier *Table, sharing Sharing) *Tenant {
	if c.CacheSalt == "" && c.KeySHA256 != "" && !c.ShareCache {
		c.CacheSalt = deriveSalt(c.Secret, "tenant", c.Name)
	}
	t := &Tenant{
		Name: c.Name, PriorityMax: c.PriorityMax, RefusePriority: c.RefusePriority, Specialists: c.Specialists,
		MayDirect: c.MayDirect,
		CacheSalt: c.CacheSalt, secret: c.Secret, MaxStreams: c.MaxStreams,
		requests: newQuota(c.Name+":requests", c.RequestsPerSecond, c.Burst, sharing),
		tokens:   newQuota(c.Name+":tokens", float64(c.TokensPerMinute)/60, c.TokensPerMinute, sharing),
		streams:  new(atomic.Int64),
	}
	if old := earlier.named(c.Name); old != nil {
		t.requests.keep(old.requests)
		t.tokens.keep(old.tokens)
		t.streams = old.streams
	}
	return t
}

// named returns the tenant of that name, or nil.
func (t *Table) named(name string) *Tenant {
	if t == nil {
		return nil
	}
	if t.anonymous != nil && t.anonymous.Name == name {
		return t.anonymous
	}
	for _, tenant := range t.byKey {
		if tenant.Name == name {
			return tenant
		}
	}
	return nil
}

// Identify returns the tenant of r. A key that is given must be known, unless none is configured.
// The key's digest is compared by map lookup: what leaks by timing is about a SHA-256 digest, not about the key.
func (t *Table) Identify(r *http.Request) (*Tenant, *apierr.Error) {
	for _, name := range [...]string{"Authorization", apiKeyHeader} {
		if len(r.Header[name]) > 1 {
			return nil, apierr.Repeated(name)
		}
	}
	return t.ByAuthorization(Authorization(r.Header.Get("Authorization"), r.Header.Get(apiKeyHeader)))
}

// apiKeyHeader is where clients of Messages have their key.
const apiKeyHeader = "X-Api-Key"

// Authorization returns the Authorization header, or what it would be for the key of an X-Api-Key header where there is
// none. Both may be "".
func Authorization(authorization, apiKey string) string {
	if authorization == "" && apiKey != "" {
		return "Bearer " + apiKey
	}
	return authorization
}

// ByAuthorization returns the tenant of an Authorization header, which may be "".
func (t *Table) ByAuthorization(authorization string) (*Tenant, *apierr.Error) {
	key, given := "", false
	if authorization != "" {
		key, given = BearerKey(authorization)
	}
	if given {
		if tenant := t.byKey[sha256.Sum256([]byte(key))]; tenant != nil {
			return tenant, nil
		}
	}
	if t.anonymous == nil || (given && len(t.byKey) > 0) {
		return nil, apierr.New(apierr.InvalidAPIKey, "Authorization",
			"a valid API key is required: Authorization: Bearer KEY")
	}
	return t.anonymous, nil
}

// BearerKey returns the key of an Authorization header, and true if any was given.
func BearerKey(auth string) (key string, given bool) {
	scheme, key, ok := strings.Cut(auth, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", auth != ""
	}
	return strings.TrimSpace(key), true
}
