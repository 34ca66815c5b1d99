package intake

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/zeebo/xxh3"

	"octet/gateway/apierr"
)

// Idempotency refuses a second request under an Idempotency-Key that is still being answered, or that was used for
// another body. Answers are not kept: the same key with the same body, sent after the first has ended, runs again.
type Idempotency struct {
	keep      int       // keys of each tenant
	elsewhere Elsewhere // nil where this gateway is the only one

	mu sync.Mutex
	// each bounded: its key used longest ago is forgotten first; tenants come of the configuration
	tenants map[string]*lru.Cache[string, *claim]
}

// Elsewhere is the other gateways before the same replicas.
type Elsewhere interface {
	// ClaimKey claims a key, which is free here, for a body among all gateways, and returns how it stood. It is Free
	// where the others cannot be asked: then each gateway goes by what it knows itself.
	ClaimKey(ctx context.Context, tenant, key string, body [16]byte) Standing
}

// Standing is how a key stands.
type Standing uint8

// The standings of a key.
const (
	Free  Standing = iota // for this body
	Open                  // a request under it is being answered
	Spent                 // it was used for another body
)

type claim struct {
	body xxh3.Uint128
	open bool
}

// NewIdempotency keeps so many keys of each tenant. elsewhere may be nil.
func NewIdempotency(keep int, elsewhere Elsewhere) *Idempotency {
	return &Idempotency{keep: max(keep, 1), elsewhere: elsewhere, tenants: map[string]*lru.Cache[string, *claim]{}}
}

// keys returns a tenant's. Under mu.
func (i *Idempotency) keys(tenant string) *lru.Cache[string, *claim] {
	keys := i.tenants[tenant]
	if keys == nil {
		var err error
		if keys, err = lru.New[string, *claim](i.keep); err != nil {
			panic(err) // only for a size below one
		}
		i.tenants[tenant] = keys
	}
	return keys
}

// Claim claims key for body, here and among all gateways; the returned func ends the claim. It asks the other gateways
// until ctx ends.
func (i *Idempotency) Claim(ctx context.Context, tenant, key string, body []byte) (func(), *apierr.Error) {
	c := &claim{body: xxh3.Hash128(body), open: true}
	was, stands := i.enter(tenant, key, c)
	if stands == Free && i.elsewhere != nil {
		if stands = i.elsewhere.ClaimKey(ctx, tenant, key, c.body.Bytes()); stands != Free {
			i.withdraw(tenant, key, c, was)
		}
	}
	switch stands {
	case Open:
		return nil, apierr.New(apierr.IdempotencyConflict, "Idempotency-Key",
			"a request under this key is still being answered")
	case Spent:
		return nil, apierr.New(apierr.IdempotencyConflict, "Idempotency-Key", "this key was used for another request")
	case Free:
	}
	return func() {
		i.mu.Lock()
		c.open = false
		i.mu.Unlock()
	}, nil
}

// enter notes c where the key is free, and returns what it takes the place of; nil if there is none.
func (i *Idempotency) enter(tenant, key string, c *claim) (was *claim, stands Standing) {
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := i.keys(tenant)
	was, _ = keys.Get(key)
	switch {
	case was == nil:
	case was.open:
		return was, Open
	case was.body != c.body:
		return was, Spent
	}
	keys.Add(key, c)
	return was, Free
}

// withdraw has was in the place of c again.
func (i *Idempotency) withdraw(tenant, key string, c, was *claim) {
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := i.keys(tenant)
	switch now, _ := keys.Peek(key); {
	case now != c: // c is forgotten
	case was == nil:
		keys.Remove(key)
	default:
		keys.Add(key, was)
	}
}

// Open returns true if a request under the key is being answered here.
func (i *Idempotency) Open(tenant, key string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := i.tenants[tenant]
	if keys == nil {
		return false
	}
	c, ok := keys.Peek(key)
	return ok && c.open
}
