package index

import (
	"context"
	"testing"

	"octet/kvpool"
)

// The contract that the index that serves and its reference share, in the pieces in which their callers see it.
type (
	asked interface {
		Depths(chain []kvpool.BlockHash, among HostBitmap, out *[MaxHosts]uint16)
		Hint(id HostID, chain []kvpool.BlockHash, depth int, dst []Location) []Location
		Alive() HostBitmap
		Stale() HostBitmap
	}
	told interface {
		Apply(b Batch) Outcome
		Resync(id HostID, epoch, seq uint64, held []TierBlocks) Outcome
	}
	kept interface {
		Admit(id HostID) error
		Retire(id HostID) bool
		Sweep(ctx context.Context, id HostID) error
		Reusable(id HostID) bool
	}
	seenInto interface {
		Unswept() HostBitmap
		Host(id HostID) HostState
		Stats() Stats
		Digest() uint64
	}
	subject interface {
		asked
		told
		kept
		seenInto
		Check() error
	}
)

var (
	_ subject = (*Indexer)(nil)
	_ subject = (*ShardedBlockIndexer)(nil)
)

// kinds are the indexes that keep the contract.
var kinds = []struct {
	name string
	make func(Config) (subject, error)
}{
	{"runs", func(c Config) (subject, error) { return New(c) }},
	{"reference", func(c Config) (subject, error) { return NewSharded(c) }},
}

// eachKind runs test on both.
func eachKind(t *testing.T, test func(t *testing.T, make func(Config) (subject, error))) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, k.make) })
	}
}

// patiently returns n, or fewer under the race detector, which makes everything slow.
func patiently(n int) int {
	if lockedReads {
		return n / 10
	}
	return n
}

func saltOf(h HostID) uint64 { return factDigest(golden, kvpool.BlockHash(h), 0) }
