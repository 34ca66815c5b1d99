package approx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// Defaults of Config.
const (
	DefaultTTL    = 5 * time.Minute
	DefaultBlocks = 32768
)

// ErrConfig is what New answers a Config with that cannot be.
var ErrConfig = errors.New("approx: bad config")

// Config bounds an Index.
type Config struct {
	TTL time.Duration // how long a routed block counts; 0 = DefaultTTL
	// kept for one replica whose pool's size is not known, at most about 150 bytes each; 0 = DefaultBlocks
	Blocks int
}

// Index is what was routed where. Safe for concurrent use; each replica has a lock of its own, which queries take only
// after something was heard of it.
type Index struct {
	hosts [index.MaxHosts]host
}

// New returns an empty Index. It fails with ErrConfig.
func New(c Config) (*Index, error) {
	if c.TTL < 0 || c.Blocks < 0 {
		return nil, fmt.Errorf("%w: ttl %v, %d blocks", ErrConfig, c.TTL, c.Blocks)
	}
	if c.TTL == 0 {
		c.TTL = DefaultTTL
	}
	if c.Blocks == 0 {
		c.Blocks = DefaultBlocks
	}
	x := &Index{}
	for i := range x.hosts {
		x.hosts[i].bound, x.hosts[i].ttl = c.Blocks, int64(c.TTL)
	}
	return x, nil
}

// Last sets how long what is routed to a replica counts from now on; 0 is not at all. What counted for a longer time is
// dropped: what was routed last has to be what counts longest.
func (x *Index) Last(id index.HostID, ttl time.Duration) {
	if int(id) >= len(x.hosts) {
		return
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ttl > int64(ttl) {
		h.empty()
	}
	h.ttl = int64(ttl)
}

// Suppose notes blocks that a replica may hold, by what was heard of it: chains from their beginnings. They count as if
// they had been routed there now. If they are more than the replica's bound the first ones are kept.
func (x *Index) Suppose(id index.HostID, blocks []kvpool.BlockHash, now time.Time) {
	if int(id) >= len(x.hosts) || len(blocks) == 0 {
		return
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.suppose(blocks, now.UnixNano())
}

// Bound sets how many blocks are kept for a replica: those of its pool. Less than one changes nothing.
func (x *Index) Bound(id index.HostID, blocks int) {
	if blocks < 1 || int(id) >= len(x.hosts) {
		return
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bound = blocks
	h.trim(math.MinInt64)
}

// Routed notes that a prompt of that chain was sent to a replica. If the chain is longer than the replica's bound its
// start is kept.
func (x *Index) Routed(id index.HostID, chain []kvpool.BlockHash, now time.Time) {
	if int(id) >= len(x.hosts) {
		return
	}
	x.hosts[id].route(chain, now.UnixNano())
}

// Depths sets out[h], for each h in among, to the number of leading blocks of chain that count for h.
func (x *Index) Depths(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time, out *[index.MaxHosts]uint16) {
	for i, w := range among {
		for ; w != 0; w &= w - 1 {
			out[i<<6+bits.TrailingZeros64(w)] = 0
		}
	}
	x.Extend(chain, among, now, out)
}

// Extend raises out[h], for each h in among, by the blocks of chain from out[h] on that count for h, up to the first
// that does not: a replica that is known to hold out[h] blocks is guessed to hold the rest.
func (x *Index) Extend(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time, out *[index.MaxHosts]uint16) {
	chain = chain[:min(len(chain), 1<<16-1)]
	at := now.UnixNano()
	for i, w := range among {
		for ; w != 0; w &= w - 1 {
			id := i<<6 + bits.TrailingZeros64(w)
			if from := int(out[id]); from < len(chain) {
				out[id] = uint16(x.hosts[id].depth(chain, from, at))
			}
		}
	}
}

// Stats is what an Index holds and was good for.
type Stats struct {
	Blocks int    // held, of all replicas, those included that stopped to count and were not missed yet
	Routed uint64 // blocks of all prompts that were routed
	Found  uint64 // of those, the leading ones that counted for their replica already
}

// Stats takes each replica's lock in turn.
func (x *Index) Stats() Stats {
	var s Stats
	for i := range x.hosts {
		x.hosts[i].count(&s)
	}
	return s
}

// Held returns how many blocks are kept for a replica.
func (x *Index) Held(id index.HostID) int {
	if int(id) >= len(x.hosts) {
		return 0
	}
	return x.hosts[id].held()
}

// Heard takes a batch that the index has applied: of the blocks that it names the truth is known now, and no guess
// needed.
func (x *Index) Heard(b index.Batch) {
	if int(b.Host) >= len(x.hosts) {
		return
	}
	h := &x.hosts[b.Host]
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range b.Ops {
		switch op := &b.Ops[i]; op.Kind {
		case index.Store, index.Remove:
			h.dropBlocks(op.Blocks)
		case index.Clear, index.Shutdown:
			h.empty()
		case index.Forget, index.Fresh: // guesses outlive knowledge
		}
	}
}

// Forget drops all that counts for a replica.
func (x *Index) Forget(id index.HostID) {
	if int(id) >= len(x.hosts) {
		return
	}
	h := &x.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.empty()
}
