// Package indextest has what the tests of both indexes share: chains, and indexes that hold them.
package indextest

import (
	"cmp"
	"slices"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
)

// Subject is an index under test.
type Subject interface {
	index.Indexer
	Check() error
}

// Make makes an index.
type Make func(index.Config) (Subject, error)

// Chain returns a chain of n blocks; salt tells chains apart.
func Chain(n int, salt string) []kvpool.BlockHash {
	var h kvpool.Hasher
	return h.Chain(nil, h.Root("debug", "", salt), make([]uint32, n*16), 16)
}

// Seeded returns an index whose hosts 0, 1, 2, … hold the first depths[0], depths[1], … blocks of chain.
func Seeded[X index.Indexer](t testing.TB, build func(index.Config) (X, error), chain []kvpool.BlockHash,
	depths ...int) X {
	t.Helper()
	x, err := build(index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	Seed(t, x, chain, depths...)
	return x
}

// Seed admits hosts 0, 1, 2, … and has them hold the first depths[0], depths[1], … blocks of chain.
func Seed(t testing.TB, x index.Indexer, chain []kvpool.BlockHash, depths ...int) {
	t.Helper()
	for h, depth := range depths {
		if err := x.Admit(index.HostID(h)); err != nil {
			t.Fatal(err)
		}
		StoreRoot(t, x, index.HostID(h), 1, chain[:depth])
	}
}

// StoreRoot applies a batch that stores a chain from its beginning.
func StoreRoot(t testing.TB, x index.Writer, h index.HostID, seq uint64, blocks []kvpool.BlockHash) {
	t.Helper()
	Apply(t, x, h, seq, index.Op{Kind: index.Store, Blocks: blocks, RootKnown: true})
}

// Apply applies a batch, which must be neither old nor after a gap.
func Apply(t testing.TB, x index.Writer, h index.HostID, seq uint64, ops ...index.Op) {
	t.Helper()
	if out := x.Apply(index.Batch{Host: h, Seq: seq, Ops: ops}); out != index.Applied {
		t.Fatalf("batch %d of host %d: %s", seq, h, out)
	}
}

// Ask returns the depths of the first hosts and how many lookups they cost.
func Ask(x index.Indexer, chain []kvpool.BlockHash, hosts int) ([]uint16, int) {
	var out [index.MaxHosts]uint16
	var among index.HostBitmap
	for h := range hosts {
		among.Set(index.HostID(h))
	}
	before := x.Stats().Lookups
	x.Depths(chain, among, &out)
	return out[:hosts], int(x.Stats().Lookups - before)
}

// Ranked is a replica and how many leading blocks of the query's chain it holds.
type Ranked struct {
	Host  index.HostID
	Depth uint16 // blocks
}

// Rank appends the hosts of among to dst, best first: the deeper before the shallower, of equals the lowest host first.
// Hosts of depth 0 are in it, last.
func Rank(depths *[index.MaxHosts]uint16, among index.HostBitmap, dst []Ranked) []Ranked {
	from := len(dst)
	for h := range among.All() {
		dst = append(dst, Ranked{h, depths[h]})
	}
	slices.SortFunc(dst[from:], func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Depth, a.Depth), cmp.Compare(a.Host, b.Host))
	})
	return dst
}
