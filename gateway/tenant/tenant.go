package tenant

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/tenant/budget"
)

// Tenant is the owner of a request. Its key or its token alone says which, never anything else that a client sends.
type Tenant struct {
	Name           string
	PriorityMax    int
	RefusePriority bool     // true: a priority over PriorityMax is refused instead of clamped
	Specialists    []string // that it may use; empty means all
	MayDirect      bool     // it may name the replica that answers
	CacheSalt      string   // see Salt
	secret         []byte   // from which salts are derived
	MaxStreams     int      // zero means no limit
	Keyless        bool     // the tenant of requests without a key
	requests       *quota
	tokens         *quota
	streams        *atomic.Int64 // open now; counted only if MaxStreams is set
	budget         budget.Limits
	account        *budget.Account             // what it has used
	told           func(tenant string, u Used) // nil if no other gateway is told
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

// Permits returns true if the tenant may use the specialist.
func (t *Tenant) Permits(specialist string) bool {
	return len(t.Specialists) == 0 || slices.Contains(t.Specialists, specialist)
}

// Take charges one request to the tenant's request rate.
func (t *Tenant) Take(now time.Time) *apierr.Error {
	if wait, ok := t.requests.take(now, 1); !ok {
		return &apierr.Error{Code: apierr.QuotaExceeded, Message: "the key's request rate is used up", RetryAfter: wait}
	}
	t.tell(Used{Requests: 1})
	return nil
}

// Enter acquires one of the tenant's streams; Leave releases it.
func (t *Tenant) Enter() *apierr.Error {
	if t.MaxStreams > 0 && t.streams.Add(1) > int64(t.MaxStreams) {
		t.streams.Add(-1)
		return apierr.New(apierr.QuotaExceeded, "",
			fmt.Sprintf("%d requests of this key are already open: its max_streams", t.MaxStreams))
	}
	return nil
}

// Leave releases what Enter acquired.
func (t *Tenant) Leave() {
	if t.MaxStreams > 0 {
		t.streams.Add(-1)
	}
}

// Charge takes n tokens from the tenant's token rate in advance, and returns how many it took: of a prompt larger than
// the burst, the burst.
func (t *Tenant) Charge(now time.Time, n int) (taken int, no *apierr.Error) {
	taken, wait, ok := t.tokens.charge(now, n)
	if !ok {
		return 0, &apierr.Error{Code: apierr.QuotaExceeded, Message: "the key's token rate is used up",
			RetryAfter: wait}
	}
	t.tell(Used{Tokens: taken})
	return taken, nil
}

// Settle corrects what Charge took to the true cost: it takes what is missing or returns what was too much. The balance
// may go below zero.
func (t *Tenant) Settle(now time.Time, taken, cost int) {
	n := cost - taken
	t.tokens.spend(now, n)
	if t.tokens != nil {
		t.tell(Used{Tokens: n})
	}
}
