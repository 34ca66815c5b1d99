package peering

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"octet/gateway/intake"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
)

// use is the latest use of an Idempotency-Key, as the store has it. Whether it has ended, the gateway that made it
// knows.
type use struct {
	at     string // the gateway
	life   uint64 // of that gateway
	body   string // its hash
	number uint64 // of that life's uses
}

func (u use) String() string { return fmt.Sprintf("%s %x %s %d", u.at, u.life, u.body, u.number) }

// parseUse reads what String writes; ok is false if it is nothing of the kind.
func parseUse(text string) (u use, ok bool) {
	parts := strings.Split(text, " ")
	if len(parts) != 4 || !peers.Named(parts[0]) {
		return use{}, false
	}
	life, err := strconv.ParseUint(parts[1], 16, 64)
	if err != nil {
		return use{}, false
	}
	return use{at: parts[0], life: life, body: parts[2]}, true
}

// keyName is what the store calls a tenant's key: it learns neither.
func keyName(tenant, key string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(tenant), tenant, key))
	return hex.EncodeToString(sum[:])
}

// keyTries bounds how often a key that changes meanwhile is looked at.
const keyTries = 4

// ClaimKey implements intake.Elsewhere. The key's latest use is one value in the store, so that of two gateways one is
// first. A use of this gateway's has ended, since the key is free here; of one of another's that gateway is asked; and
// one of a gateway that is gone has ended with it.
func (g *Group) ClaimKey(ctx context.Context, tenant, key string, body [16]byte) intake.Standing {
	mine := use{at: g.cfg.Name, life: g.life, body: hex.EncodeToString(body[:]), number: g.uses.Add(1)}
	name, value := keyName(tenant, key), mine.String()
	var seen peers.Held
	for range keyTries {
		there, err := g.cfg.Link.Put(ctx, name, seen, value)
		if err != nil {
			if ctx.Err() == nil {
				g.unshared.Add(1)
			}
			return intake.Free
		}
		if there.Value == value {
			return intake.Free
		}
		if u, ok := parseUse(there.Value); ok {
			if u.body != mine.body {
				return intake.Spent
			}
			if g.underway(ctx, u, tenant, key) {
				return intake.Open
			}
		}
		seen = there
	}
	return intake.Open // others use it all the time
}

// underway returns true unless a use has surely ended.
func (g *Group) underway(ctx context.Context, u use, tenant, key string) bool {
	if u.at == g.cfg.Name { // of this life it is free, and an earlier one is over
		return false
	}
	g.mu.Lock()
	life, counts := g.roll.Life(u.at)
	fresh := time.Since(g.joined) < g.cfg.Lease // others may be there that have told nothing yet
	g.mu.Unlock()
	if !counts || life != u.life {
		return !counts && fresh
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Lease/2)
	defer cancel()
	a := g.ask(ctx, u.at, &peerspb.Question{Key: &peerspb.Key{Tenant: tenant, Key: key}})
	return a.GetStanding() == nil || a.GetStanding().GetOpen()
}
