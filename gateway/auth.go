package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"octet/gateway/apierr"
)

// Tenant is who a request is for. Its identity comes from the API key alone, never from anything else a client sends.
type Tenant struct {
	Name           string
	PriorityMax    int
	RefusePriority bool     // over PriorityMax: refuse instead of clamp
	Specialists    []string // allowed; empty is all
	CacheSalt      string   // see Salt
	secret         []byte   // that salts are derived from
	MaxStreams     int      // 0 is unbounded
	keyless        bool     // it is what requests without a key are
	requests       *quota
	tokens         *quota
	streams        *atomic.Int64 // open now, if there is a bound
	receipts       atomic.Pointer[ring]
}

// TenantConfig is one tenant of the configuration.
type TenantConfig struct {
	Name           string
	KeySHA256      string // 64 hex digits; unused for the anonymous tenant
	PriorityMax    int
	RefusePriority bool
	Specialists    []string
	CacheSalt      string
	Secret         []byte // that salts are derived from
	// without a CacheSalt it shares its cache with all that have none; else it has a salt of its own
	ShareCache        bool
	MaxStreams        int
	RequestsPerSecond float64 // 0 is unlimited
	Burst             int
	TokensPerMinute   int // 0 is unlimited
}

// Tenants finds the tenant of a request. Immutable.
type Tenants struct {
	byKey     map[[sha256.Size]byte]*Tenant
	anonymous *Tenant // nil when a key is required
}

// NewTenants builds the table; anonymous nil means that a key is required. Limiters of earlier tenants with the same
// name and the same rates are kept, and what they hold open, so that a reload does not refill anybody's quota.
func NewTenants(list []TenantConfig, anonymous *TenantConfig, earlier *Tenants, sharing Sharing) (*Tenants, error) {
	t := &Tenants{byKey: make(map[[sha256.Size]byte]*Tenant, len(list))}
	for _, c := range list {
		raw, err := hex.DecodeString(c.KeySHA256)
		if err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("tenant %s: key_sha256 is not %d hex digits", c.Name, 2*sha256.Size)
		}
		t.byKey[[sha256.Size]byte(raw)] = newTenant(c, earlier, sharing)
	}
	if anonymous != nil {
		t.anonymous = newTenant(*anonymous, earlier, sharing)
		t.anonymous.keyless = true
	}
	return t, nil
}

func newTenant(c TenantConfig, earlier *Tenants, sharing Sharing) *Tenant {
	if c.CacheSalt == "" && c.KeySHA256 != "" && !c.ShareCache {
		c.CacheSalt = deriveSalt(c.Secret, "tenant", c.Name)
	}
	t := &Tenant{
		Name: c.Name, PriorityMax: c.PriorityMax, RefusePriority: c.RefusePriority, Specialists: c.Specialists,
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

func (t *Tenants) named(name string) *Tenant {
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

// Identify returns the tenant of r. A key that is given must be known, unless no keys are configured at all.
// The key's digest is compared by map lookup: what leaks by timing is about a SHA-256 digest, not about the key.
func (t *Tenants) Identify(r *http.Request) (*Tenant, *apierr.Error) {
	if len(r.Header["Authorization"]) > 1 {
		return nil, repeated("Authorization")
	}
	return t.identify(r.Header.Get("Authorization"))
}

func (t *Tenants) identify(authorization string) (*Tenant, *apierr.Error) {
	key, given := "", false
	if authorization != "" {
		key, given = bearer(authorization)
	}
	if given {
		if tenant := t.byKey[sha256.Sum256([]byte(key))]; tenant != nil {
			return tenant, nil
		}
	}
	if t.anonymous == nil || (given && len(t.byKey) > 0) {
		return nil, apierr.New(apierr.InvalidAPIKey, "Authorization", "a valid API key is required: Authorization: Bearer KEY")
	}
	return t.anonymous, nil
}

// bearer returns the key of the Authorization header, and whether any was given.
func bearer(auth string) (key string, given bool) {
	scheme, key, ok := strings.Cut(auth, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return "", auth != ""
	}
	return strings.TrimSpace(key), true
}

// Clamp applies the tenant's priority ceiling.
func (t *Tenant) Clamp(priority int) (int, *apierr.Error) {
	if priority <= t.PriorityMax {
		return priority, nil
	}
	if t.RefusePriority {
		return 0, apierr.New(apierr.PriorityNotAllowed, "X-Priority",
			fmt.Sprintf("the highest priority of this key is %d", t.PriorityMax))
	}
	return t.PriorityMax, nil
}

// Permits says whether the tenant may use the specialist.
func (t *Tenant) Permits(specialist string) bool {
	return len(t.Specialists) == 0 || slices.Contains(t.Specialists, specialist)
}

// Take charges one request to the tenant's rates.
func (t *Tenant) Take(now time.Time) *apierr.Error {
	if wait, ok := t.requests.take(now, 1); !ok {
		return &apierr.Error{Code: apierr.QuotaExceeded, Message: "the key's request rate is used up", RetryAfter: wait}
	}
	return nil
}

// Enter takes one of the tenant's streams; giveBack gives it back.
func (t *Tenant) Enter() *apierr.Error {
	if t.MaxStreams > 0 && t.streams.Add(1) > int64(t.MaxStreams) {
		t.streams.Add(-1)
		return apierr.New(apierr.QuotaExceeded, "",
			fmt.Sprintf("%d requests of this key are already open: its max_streams", t.MaxStreams))
	}
	return nil
}

func (t *Tenant) giveBack() {
	if t.MaxStreams > 0 {
		t.streams.Add(-1)
	}
}

// Charge takes n tokens from the tenant's token rate before they are spent; a prompt larger than the burst takes all of
// it.
func (t *Tenant) Charge(now time.Time, n int) *apierr.Error {
	if wait, ok := t.tokens.take(now, n); !ok {
		return &apierr.Error{Code: apierr.QuotaExceeded, Message: "the key's token rate is used up", RetryAfter: wait}
	}
	return nil
}

// Settle takes what a request has cost beyond what Charge took of charged tokens for it, or gives back what it cost
// less; the balance may go below zero.
func (t *Tenant) Settle(now time.Time, charged, cost int) {
	t.tokens.spend(now, cost-t.tokens.takes(charged))
}
