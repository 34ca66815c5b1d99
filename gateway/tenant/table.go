package tenant

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/tenant/bearer"
	"octet/gateway/tenant/budget"
)

// Config is one tenant of the configuration.
type Config struct {
	Name           string
	Keys           []Key // none for the anonymous tenant
	PriorityMax    int
	RefusePriority bool
	Specialists    []string
	MayDirect      bool
	CacheSalt      string
	Secret         []byte // from which salts are derived
	// Without CacheSalt: true shares the cache with all tenants that have none, and with requests without a key; false
	// derives a salt of its own.
	ShareCache        bool
	MaxStreams        int     // zero means no limit
	RequestsPerSecond float64 // zero means no limit
	Burst             int
	TokensPerMinute   int // zero means no limit
	Budget            budget.Limits
}

// Table finds the tenant of a request. Immutable.
type Table struct {
	keys      keyring
	tokens    *bearer.Verifier   // of tokens beside keys; nil if there are none
	tenants   map[string]*Tenant // that are declared, by name
	anonymous *Tenant            // nil if a key is required
	operator  *Tenant            // of operators' own requests; nil before WithOperator
	keyed     bool               // token is the key of operator, for requests that name a replica
	token     digest
}

// NewTable builds a Table; a nil anonymous means that a key is required. A tenant of the same name in earlier hands on
// its open streams, and its limiters if their rates are the same: a reload does not refill a quota.
func NewTable(list []Config, anonymous *Config, earlier *Table, sharing Sharing) (*Table, error) {
	t := &Table{keys: newKeyring(len(list)), tenants: make(map[string]*Tenant, len(list))}
	for _, c := range list {
		one := newTenant(c, earlier, sharing)
		t.tenants[c.Name] = one
		for _, key := range c.Keys {
			if err := t.keys.add(key, one); err != nil {
				return nil, err
			}
		}
	}
	if anonymous != nil {
		c := *anonymous
		c.ShareCache = true
		t.anonymous = newTenant(c, earlier, sharing)
		t.anonymous.Keyless = true
	}
	return t, nil
}

func newTenant(c Config, earlier *Table, sharing Sharing) *Tenant {
	if c.CacheSalt == "" && !c.ShareCache {
		c.CacheSalt = deriveSalt(c.Secret, "tenant", c.Name)
	}
	t := &Tenant{
		Name: c.Name, PriorityMax: c.PriorityMax, RefusePriority: c.RefusePriority, Specialists: c.Specialists,
		MayDirect: c.MayDirect,
		CacheSalt: c.CacheSalt, secret: c.Secret, MaxStreams: c.MaxStreams,
		requests: newQuota(c.Name+":requests", c.RequestsPerSecond, c.Burst, sharing),
		tokens:   newQuota(c.Name+":tokens", float64(c.TokensPerMinute)/60, c.TokensPerMinute, sharing),
		streams:  new(atomic.Int64),
		budget:   c.Budget,
		account:  sharing.Ledger.Of(c.Name),
		told:     sharing.Told,
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
	return t.tenants[name]
}

// WithTokens has tokens that v verifies name tenants, beside keys; nil verifies none. It is called before t is used.
func (t *Table) WithTokens(v *bearer.Verifier) { t.tokens = v }

// Tokens returns what verifies tokens; nil if nothing does.
func (t *Table) Tokens() *bearer.Verifier { return t.tokens }

// Identify returns the tenant of r. A key that is given must be known, and not have expired, unless none is configured.
func (t *Table) Identify(r *http.Request, now time.Time) (*Tenant, *apierr.Error) {
	for _, name := range [...]string{"Authorization", apiKeyHeader} {
		if len(r.Header[name]) > 1 {
			return nil, apierr.Repeated(name)
		}
	}
	return t.ByFields(r.Context(), r.Header.Get("Authorization"), r.Header.Get(apiKeyHeader), now)
}

// apiKeyHeader is where clients of Messages have their key.
const apiKeyHeader = "X-Api-Key"

// ByFields returns the tenant of a request's Authorization and X-Api-Key fields, as ByAuthorization does. Both may be
// ""; the key of the latter counts where the former is.
func (t *Table) ByFields(ctx context.Context, authorization, apiKey string, now time.Time) (*Tenant, *apierr.Error) {
	if authorization != "" || apiKey == "" {
		return t.ByAuthorization(ctx, authorization, now)
	}
	tenant, err := t.ByAuthorization(ctx, "Bearer "+apiKey, now)
	if err != nil && err.Code == apierr.InvalidAPIKey {
		err.Param = apiKeyHeader
	}
	return tenant, err
}

// ByAuthorization returns the tenant of an Authorization header, which may be "", at a time. A token whose key is not
// known may have to wait for the issuer's, until ctx ends at the latest.
func (t *Table) ByAuthorization(ctx context.Context, authorization string, now time.Time) (*Tenant, *apierr.Error) {
	key, given := "", false
	if authorization != "" {
		key, given = BearerKey(authorization)
	}
	if !given || t.keys.empty() && t.tokens == nil {
		if t.anonymous != nil {
			return t.anonymous, nil
		}
		return nil, unknown("")
	}
	d := sha256.Sum256([]byte(key))
	tenant, ended := t.keys.find(&d, now)
	switch {
	case ended:
		return nil, unknown(": this one has expired")
	case tenant != nil:
		return tenant, nil
	case t.tokens != nil && bearer.Shaped(key):
		return t.byToken(ctx, key, d, now)
	}
	return nil, unknown("")
}

// byToken returns the tenant that a token names.
func (t *Table) byToken(ctx context.Context, token string, d digest, now time.Time) (*Tenant, *apierr.Error) {
	name, err := t.tokens.Tenant(ctx, token, d, now)
	var refused bearer.Refused
	switch {
	case errors.As(err, &refused):
		return nil, unknown(": " + string(refused))
	case err != nil:
		return nil, &apierr.Error{Code: apierr.Overloaded, RetryAfter: time.Second, Cause: err,
			Message: "tokens cannot be verified now: the keys of their issuer are not known, or too many wait"}
	case t.tenants[name] == nil:
		return nil, unknown(": the token names none that is declared here")
	}
	return t.tenants[name], nil
}

func unknown(why string) *apierr.Error {
	return apierr.New(apierr.InvalidAPIKey, "Authorization",
		"a valid API key is required: Authorization: Bearer KEY"+why)
}

// BearerKey returns the key of an Authorization header, and true if any was given.
func BearerKey(auth string) (key string, given bool) {
	scheme, key, ok := strings.Cut(auth, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", auth != ""
	}
	return strings.TrimSpace(key), true
}
