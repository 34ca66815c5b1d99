package plugins

import (
	"context"

	"github.com/zeebo/xxh3"

	"octet/routing"
)

// hashKey writes what a consistent hash spreads requests by.
type hashKey struct {
	named
	by     string
	blocks int // leading blocks of the prompt that count
}

// newHashKey: by (default session) is session, tenant, adapter or prefix; prefix_blocks (default 16) is how many
// leading blocks of the prompt make its prefix: too few, and all that share a system prompt go to one replica.
func newHashKey(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		h := hashKey{
			by:     p.Text("by", "session", "session", "tenant", "adapter", "prefix"),
			blocks: p.Int("prefix_blocks", 16, 1, 1<<16),
		}
		h.named = named{"consistent-hash-key", nil}
		switch h.by {
		case "session":
			h.named.reads = reads(Session)
		case "tenant":
			h.named.reads = reads(Tenant)
		case "prefix":
			h.named.reads = reads(BlockHashes)
		}
		return h
	}
}

// Writes implements routing.Preparer.
func (hashKey) Writes() []routing.AnySlot { return reads(HashKey) }

// Prepare implements routing.Preparer. It never fails; a request without a session, a tenant's name, an adapter or a
// full block of prompt gets no key.
func (h hashKey) Prepare(_ context.Context, c *routing.Context) error {
	if key := h.key(c.View()); key != 0 {
		HashKey.Put(c, key)
	}
	return nil
}

// key returns 0 if the request has nothing to hash.
func (h hashKey) key(v routing.View) uint64 {
	switch h.by {
	case "session":
		return Session.Get(v)
	case "tenant":
		if t := Tenant.Get(v); t.Name != "" {
			return keyOf(t.Key, 0)
		}
	case "adapter":
		if adapter := v.Facts().Adapter; adapter != "" {
			return keyOf(xxh3.HashString(adapter), 0)
		}
	case "prefix":
		if chain := BlockHashes.Get(v); len(chain) > 0 {
			return keyOf(uint64(chain[min(h.blocks, len(chain))-1]), 0) // a block's hash stands for all before it
		}
	}
	return 0
}
