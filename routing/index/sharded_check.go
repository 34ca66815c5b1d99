package index

import (
	"errors"
	"fmt"

	"octet/kvpool"
)

// Check proves the index's invariants (see the package comment) and returns every breach. It reads everything under all
// hosts' locks: for tests and operators, not for the request path.
func (x *ShardedBlockIndexer) Check() error {
	for i := range x.hosts {
		x.hosts[i].mu.RLock()
		defer x.hosts[i].mu.RUnlock()
	}
	var faults []error
	for i := range x.hosts {
		id, h := HostID(i), &x.hosts[i]
		if err := h.tiers.check(h.salt); err != nil {
			faults = append(faults, fmt.Errorf("host %d: %w", id, err))
		}
		if h.tiers.detached > 0 != x.suspects.has(id) && x.alive.has(id) {
			faults = append(faults, fmt.Errorf("host %d: %d detached blocks, suspect %v", id, h.tiers.detached,
				x.suspects.has(id)))
		}
		faults = append(faults, x.checkBits(id, h))
	}
	faults = append(faults, x.checkEntries())
	return errors.Join(faults...)
}

// checkBits finds the held blocks of a living host whose bit is not set.
func (x *ShardedBlockIndexer) checkBits(id HostID, h *host) error {
	for b, r := range h.tiers.blocks {
		if r.tiers != 0 && x.alive.has(id) && !x.shards[shardOf(b)].holders(b).Has(id) {
			return fmt.Errorf("host %d holds %x, but its bit is clear", id, b)
		}
	}
	return nil
}

// checkEntries finds entries in the wrong shard, without a holder, or with a bit of one that does not hold them.
func (x *ShardedBlockIndexer) checkEntries() error {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.RLock()
		defer s.mu.RUnlock()
		for b, held := range s.blocks {
			if shardOf(b) != uint8(i) || held.Empty() {
				return fmt.Errorf("shard %d: entry %x with %d holders", i, b, held.Count())
			}
			for id := range held.All() {
				if int(id) >= x.size || x.hosts[id].tiers.blocks[b].tiers == 0 {
					return fmt.Errorf("host %d does not hold %x, but its bit is set", id, b)
				}
			}
		}
	}
	return nil
}

// check counts again what m counts as it goes.
func (m *tierMap) check(salt uint64) error {
	var held, detached int
	var digest uint64
	for b, r := range m.blocks {
		for t := range Tier(Tiers) {
			if r.tiers&(1<<t) != 0 {
				digest += factDigest(salt, b, t)
			}
		}
		if r.tiers == 0 {
			continue
		}
		held++
		if r.origin == loose || r.origin == child && m.blocks[r.parent].tiers == 0 {
			detached++
		}
	}
	if held != m.held || detached != m.detached || digest != m.digest {
		return fmt.Errorf("%d blocks, %d detached, digest %x; counted %d, %d, %x", held, detached, digest, m.held,
			m.detached, m.digest)
	}
	return m.checkLinks()
}

// checkLinks finds wrong counts of children, residencies that nothing needs, and extents without a copy.
func (m *tierMap) checkLinks() error {
	children := map[kvpool.BlockHash]uint32{}
	for _, r := range m.blocks {
		if r.origin == child {
			children[r.parent]++
		}
	}
	for b, r := range m.blocks {
		if r.children != children[b] || r.tiers == 0 && r.children == 0 {
			return fmt.Errorf("block %x has %d children, counted %d", b, children[b], r.children)
		}
	}
	for p := range m.extents {
		if m.blocks[p.block].tiers&(1<<p.tier) == 0 {
			return fmt.Errorf("extent of %x in %s without a copy", p.block, p.tier)
		}
	}
	return nil
}
