package reference

import (
	"errors"
	"fmt"

	"octet/kvpool"
	"octet/routing/index"
)

// Check proves the invariants of the package comment and returns every breach. It reads everything under all hosts'
// locks: for tests and operators, not for the request path.
func (x *ShardedBlockIndexer) Check() error {
	for i := range x.hosts {
		x.hosts[i].mu.RLock()
		defer x.hosts[i].mu.RUnlock()
	}
	var faults []error
	for i := range x.hosts {
		id, h := index.HostID(i), &x.hosts[i]
		if err := h.tiers.check(); err != nil {
			faults = append(faults, fmt.Errorf("host %d: %w", id, err))
		}
		if h.tiers.detached > 0 != x.suspects.Has(id) && x.IsAlive(id) {
			faults = append(faults, fmt.Errorf("host %d: %d detached blocks, suspect %v", id, h.tiers.detached,
				x.suspects.Has(id)))
		}
		faults = append(faults, x.checkBits(id, h))
	}
	faults = append(faults, x.checkEntries())
	return errors.Join(faults...)
}

// checkBits finds the held blocks of a living host whose bit is not set.
func (x *ShardedBlockIndexer) checkBits(id index.HostID, h *host) error {
	for b, r := range h.tiers.blocks {
		if r.tiers != 0 && x.IsAlive(id) && !x.shards[shardOf(b)].holders(b).Has(id) {
			return fmt.Errorf("host %d holds %x, but its bit is clear", id, b)
		}
	}
	return nil
}

// checkEntries finds entries in the wrong shard, without a holder, or with a bit of a host that does not hold them.
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
				if !x.Exists(id) || x.hosts[id].tiers.blocks[b].tiers == 0 {
					return fmt.Errorf("host %d does not hold %x, but its bit is set", id, b)
				}
			}
		}
	}
	return nil
}

// check counts again what m counts as it goes.
func (m *tierMap) check() error {
	var held, detached int
	children := map[kvpool.BlockHash]uint32{}
	for _, r := range m.blocks {
		if r.origin == child {
			children[r.parent]++
		}
		if r.tiers == 0 {
			continue
		}
		held++
		if r.origin == loose || r.origin == child && m.blocks[r.parent].tiers == 0 {
			detached++
		}
	}
	if held != m.held || detached != m.detached {
		return fmt.Errorf("%d blocks, %d detached; counted %d, %d", held, detached, m.held, m.detached)
	}
	for b, r := range m.blocks {
		if r.children != children[b] || r.tiers == 0 && r.children == 0 {
			return fmt.Errorf("block %x has %d children, counted %d", b, children[b], r.children)
		}
	}
	return nil
}
