package index

import (
	"runtime"
	"testing"
	"unsafe"

	"octet/kvpool"
)

// MOD2-31, MOD2-32
func TestShardIsTheTopByteOfTheFibonacciProduct(t *testing.T) {
	for b, want := range map[kvpool.BlockHash]uint8{0: 0, 1: 158, 2: 60, 3: 218} {
		if got := shardOf(b); got != want {
			t.Errorf("hash %d goes to shard %d, want %d", b, got, want)
		}
	}
}

// MOD2-30, MOD2-32
func TestSequentialHashesSpreadEvenly(t *testing.T) {
	const perShard = 100
	var load [Shards]int
	for b := range kvpool.BlockHash(Shards * perShard) {
		load[shardOf(b)]++
	}
	for s, n := range load {
		if n < perShard*9/10 || n > perShard*11/10 {
			t.Errorf("shard %d has %d of %d sequential hashes, want about %d", s, n, Shards*perShard, perShard)
		}
	}
}

// MOD2-33
func TestEachShardHasCacheLinesOfItsOwn(t *testing.T) {
	x := newIndex(t, nil)
	if size := unsafe.Sizeof(shard{}); size%64 != 0 {
		t.Errorf("a shard has %d bytes", size)
	}
	if at := uintptr(unsafe.Pointer(&x.shards[0])); at%64 != 0 {
		t.Errorf("the first shard is at %x, not on a cache line", at)
	}
	if size := unsafe.Sizeof(x.shards); size != 16<<10 {
		t.Errorf("the shards take %d bytes, want 16 KiB", size)
	}
	if size := unsafe.Sizeof(x.lookups[0]); size != 64 {
		t.Errorf("a counter stripe has %d bytes", size)
	}
}

// MOD2-23
func TestBatchTakesEachShardLockOnce(t *testing.T) {
	chain := chainOf(2000, "")
	shards := map[uint8]bool{}
	for _, b := range chain {
		shards[shardOf(b)] = true
	}
	x := newIndex(t, nil, 0)
	before := x.Stats().Locked
	apply(t, x, 0, 2, Op{Kind: Store, Blocks: chain[:1000], RootKnown: true},
		Op{Kind: Store, Tier: CPU, Blocks: chain[:1000], RootKnown: true},
		Op{Kind: Store, Blocks: chain[1000:], Parent: chain[999], HasParent: true})
	if got := x.Stats().Locked - before; got != uint64(len(shards)) {
		t.Fatalf("%d lock acquisitions for 3,000 blocks in %d shards", got, len(shards))
	}
}

// MOD2-25, MOD2-26, MOD2-27
func TestHostBitmapIsFlatWordsAndAllocatesNothing(t *testing.T) {
	if size := unsafe.Sizeof(HostBitmap{}); size != Words*8 || Words == 4 && size != 32 {
		t.Fatalf("a HostBitmap of %d words has %d bytes", Words, size)
	}
	var sum int
	if n := testing.AllocsPerRun(100, func() {
		var a, b HostBitmap
		for h := HostID(0); h < MaxHosts; h += 3 {
			a.Set(h)
			b.Set(h / 2)
		}
		a.Clear(3)
		c := a.And(b).Or(b).AndNot(a)
		for h := range c.All() {
			sum += int(h)
		}
		if a.Has(MaxHosts-1) || !c.Empty() {
			sum += c.Count()
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
	if all := (HostSet(0, MaxHosts-1)); all.Count() != 2 || !all.Has(MaxHosts-1) || all.Has(1) {
		t.Fatalf("%x", all)
	}
}

// MOD2-25
func TestQueriesAndSteadyEventsAllocateNothing(t *testing.T) {
	eachKind(t, queriesAndSteadyEventsAllocateNothing)
}

func queriesAndSteadyEventsAllocateNothing(t *testing.T, make func(Config) (subject, error)) {
	chain := chainOf(64, "")
	x := seeded(t, make, chain, 64, 32, 48)
	apply(t, x, 2, 2, Op{Kind: Remove, Blocks: chain[5:6]})
	var out [MaxHosts]uint16
	var ranked []Ranked
	var where []Location
	seq := uint64(1)
	ops := [][]Op{
		{{Kind: Remove, Blocks: chain[16:]}, {Kind: Store, Tier: CPU, Blocks: chain, RootKnown: true}},
		{{Kind: Store, Blocks: chain[16:], Parent: chain[15], HasParent: true},
			{Kind: Remove, Tier: CPU, Blocks: chain}},
	}
	if n := testing.AllocsPerRun(200, func() {
		x.Depths(chain, x.Alive(), &out)
		ranked = Rank(&out, x.Alive(), ranked[:0])
		where = x.Hint(ranked[0].Host, chain, int(ranked[0].Depth), where[:0])
		seq++
		x.Apply(Batch{Host: 0, Seq: seq, Ops: ops[seq%2]})
		x.Apply(Batch{Host: 0, Seq: seq, Ops: ops[seq%2]}) // a duplicate
	}); n != 0 {
		t.Fatalf("%v allocations a round", n)
	}
	if err := x.Check(); err != nil {
		t.Fatal(err)
	}
}

// MOD2-24
func TestStatsCountEntriesResidenciesAndBytes(t *testing.T) {
	const n = 100_000
	chain := chainOf(n, "")
	before := heap()
	x := newIndex(t, chain, n, n)
	real := heap() - before
	st := x.Stats()
	if st.Entries != n || st.Blocks != 2*n {
		t.Fatalf("%+v", st)
	}
	if st.Bytes < real/2 || st.Bytes > real*2 {
		t.Fatalf("estimated %d bytes, the heap grew by %d", st.Bytes, real)
	}
	runtime.KeepAlive(x)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
