package reference

import (
	"runtime"
	"testing"
	"unsafe"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
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
	x := indextest.Seeded(t, New, nil)
	if size := unsafe.Sizeof(shard{}); size%64 != 0 {
		t.Errorf("a shard has %d bytes", size)
	}
	if at := uintptr(unsafe.Pointer(&x.shards[0])); at%64 != 0 {
		t.Errorf("the first shard is at %x, not on a cache line", at)
	}
	if size := unsafe.Sizeof(x.shards); size != 16<<10 {
		t.Errorf("the shards take %d bytes, want 16 KiB", size)
	}
}

// MOD2-23
func TestBatchTakesEachShardLockOnce(t *testing.T) {
	chain := indextest.Chain(2000, "")
	shards := map[uint8]bool{}
	for _, b := range chain {
		shards[shardOf(b)] = true
	}
	x := indextest.Seeded(t, New, nil, 0)
	before := x.Stats().Locked
	indextest.Apply(t, x, 0, 2, index.Op{Kind: index.Store, Blocks: chain[:1000], RootKnown: true},
		index.Op{Kind: index.Store, Tier: index.CPU, Blocks: chain[:1000], RootKnown: true},
		index.Op{Kind: index.Store, Blocks: chain[1000:], Parent: chain[999], HasParent: true})
	if got := x.Stats().Locked - before; got != uint64(len(shards)) {
		t.Fatalf("%d lock acquisitions for 3,000 blocks in %d shards", got, len(shards))
	}
}

// MOD2-24
func TestStatsCountEntriesResidenciesAndBytes(t *testing.T) {
	const n = 100_000
	chain := indextest.Chain(n, "")
	before := heap()
	x := indextest.Seeded(t, New, chain, n, n)
	grown := heap() - before
	st := x.Stats()
	if st.Entries != n || st.Blocks != 2*n {
		t.Fatalf("%+v", st)
	}
	if st.Bytes < grown/2 || st.Bytes > grown*2 {
		t.Fatalf("estimated %d bytes, the heap grew by %d", st.Bytes, grown)
	}
	runtime.KeepAlive(x)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
