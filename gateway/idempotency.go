package gateway

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/zeebo/xxh3"
)

// idempotency refuses a second request under an Idempotency-Key that is still being answered, or that was used for another
// body. Answers are not kept: the same key with the same body, sent after the first has ended, runs again.
type idempotency struct {
	mu   sync.Mutex
	keys *lru.Cache[string, *claim] // bounded: the key used longest ago is forgotten first
}

type claim struct {
	body xxh3.Uint128
	open bool
}

func newIdempotency(keep int) *idempotency {
	keys, err := lru.New[string, *claim](max(keep, 1))
	if err != nil {
		panic(err) // only for a size below one
	}
	return &idempotency{keys: keys}
}

// take claims key for body; the returned func ends the claim.
func (i *idempotency) take(tenant, key string, body []byte) (func(), *Error) {
	sum := xxh3.Hash128(body)
	i.mu.Lock()
	defer i.mu.Unlock()
	id := tenant + "\x00" + key
	if c, ok := i.keys.Get(id); ok {
		if c.open {
			return nil, fail(CodeIdempotencyConflict, "Idempotency-Key", "a request under this key is still being answered")
		}
		if c.body != sum {
			return nil, fail(CodeIdempotencyConflict, "Idempotency-Key", "this key was used for another request")
		}
	}
	c := &claim{body: sum, open: true}
	i.keys.Add(id, c)
	return func() {
		i.mu.Lock()
		c.open = false
		i.mu.Unlock()
	}, nil
}

// claimKey applies the Idempotency-Key header, if any.
func (x *exchange) claimKey() error {
	key, err := headerToken(x.heads.idempotency, "Idempotency-Key")
	if err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	release, err := x.s.idempotency.take(x.tenant.Name, key, x.body)
	if err != nil {
		return err
	}
	x.atEnd(release)
	return nil
}
