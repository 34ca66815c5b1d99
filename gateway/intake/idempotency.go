package intake

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/zeebo/xxh3"

	"octet/gateway/apierr"
)

// Idempotency refuses a second request under an Idempotency-Key that is still being answered, or that was used for
// another body. Answers are not kept: the same key with the same body, sent after the first has ended, runs again.
type Idempotency struct {
	keep int // keys of each tenant

	mu sync.Mutex
	// each bounded: its key used longest ago is forgotten first; tenants come of the configuration
	tenants map[string]*lru.Cache[string, *claim]
}

type claim struct {
	body xxh3.Uint128
	open bool
}

// NewIdempotency keeps so many keys of each tenant.
func NewIdempotency(keep int) *Idempotency {
	return &Idempotency{keep: max(keep, 1), tenants: map[string]*lru.Cache[string, *claim]{}}
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

// Claim claims key for body; the returned func ends the claim.
func (i *Idempotency) Claim(tenant, key string, body []byte) (func(), *apierr.Error) {
	sum := xxh3.Hash128(body)
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := i.keys(tenant)
	if c, ok := keys.Get(key); ok {
		if c.open {
			return nil, apierr.New(apierr.IdempotencyConflict, "Idempotency-Key",
				"a request under this key is still being answered")
		}
		if c.body != sum {
			return nil, apierr.New(apierr.IdempotencyConflict, "Idempotency-Key",
				"this key was used for another request")
		}
	}
	c := &claim{body: sum, open: true}
	keys.Add(key, c)
	return func() {
		i.mu.Lock()
		c.open = false
		i.mu.Unlock()
	}, nil
}
