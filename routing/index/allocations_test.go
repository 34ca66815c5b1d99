package index_test

import (
	"testing"
	"unsafe"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

// MOD2-25, MOD2-26, MOD2-27
func TestHostBitmapIsFlatWordsAndAllocatesNothing(t *testing.T) {
	if size := unsafe.Sizeof(index.HostBitmap{}); size != index.Words*8 || index.Words == 4 && size != 32 {
		t.Fatalf("a HostBitmap of %d words has %d bytes", index.Words, size)
	}
	var sum int
	if n := testing.AllocsPerRun(100, func() {
		var a, b index.HostBitmap
		for h := index.HostID(0); h < index.MaxHosts; h += 3 {
			a.Set(h)
			b.Set(h / 2)
		}
		a.Clear(3)
		c := a.And(b).Or(b).AndNot(a)
		for h := range c.All() {
			sum += int(h)
		}
		if a.Has(index.MaxHosts-1) || !c.Empty() {
			sum += c.Count()
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
	if all := (index.HostSet(0, index.MaxHosts-1)); all.Count() != 2 || !all.Has(index.MaxHosts-1) || all.Has(1) {
		t.Fatalf("%x", all)
	}
}

// MOD2-25
func TestQueriesAndSteadyEventsAllocateNothing(t *testing.T) {
	eachKind(t, queriesAndSteadyEventsAllocateNothing)
}

//nolint:lll // raw text that cannot be broken
func queriesAndSteadyEventsAllocateNothing(t *testing.T, build indextest.Make) {
	chain := indextest.Chain(64, "")
	x := indextest.Seeded(t, build, chain, 64, 32, 48)
	indextest.Apply(t, x, 2, 2, index.Op{Kind: index.Remove, Blocks: chain[5:6]})
	var out [index.MaxHosts]uint16
	var ranked []indextest.Ranked
	seq := uint64(1)
	ops := [][]index.Op{
		{{Kind: index.Remove, Blocks: chain[16:]}, {Kind: index.Store, Tier: index.CPU, Blocks: chain, RootKnown: true}},
		{{Kind: index.Store, Blocks: chain[16:], Parent: chain[15], HasParent: true},
			{Kind: index.Remove, Tier: index.CPU, Blocks: chain}},
	}
	if n := testing.AllocsPerRun(200, func() {
		x.Depths(chain, x.Alive(), &out)
		ranked = indextest.Rank(&out, x.Alive(), ranked[:0])
		x.InTiers(ranked[0].Host, chain, int(ranked[0].Depth), 1)
		seq++
		x.Apply(index.Batch{Host: 0, Seq: seq, Ops: ops[seq%2]})
		x.Apply(index.Batch{Host: 0, Seq: seq, Ops: ops[seq%2]}) // a duplicate
	}); n != 0 {
		t.Fatalf("%v allocations a round", n)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}
