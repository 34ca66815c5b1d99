package replay

import (
	"fmt"
	"time"

	"octet/routing/approx"
	"octet/routing/belief"
	"octet/routing/index"
)

// newBeliefs returns what a gateway takes caches to hold: what events say, and what was routed there since, for ttl, or
// instead.
func newBeliefs(x index.Indexer, ttl time.Duration) (*belief.Beliefs, error) {
	guesses, err := approx.New(approx.Config{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return belief.New(belief.Config{
		Index: x, Guesses: guesses, TTL: ttl, Differ: func() (none index.HostBitmap) { return none },
		Cleared: func(index.HostID) {}, Patience: func() time.Duration { return 0 },
	}), nil
}
