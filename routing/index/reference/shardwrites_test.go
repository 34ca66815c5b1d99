package reference

import (
	"sync/atomic"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// blocksIn returns n blocks of one shard, from the first after seed on.
func blocksIn(at uint8, seed kvpool.BlockHash, n int) (all []kvpool.BlockHash) {
	for b := seed + 1; len(all) < n; b++ {
		if shardOf(b) == at {
			all = append(all, b)
		}
	}
	return all
}

// MOD2-34: a writer waits for its own shards alone. While shard 3 is locked, a batch for shard 4 goes through, from the
// same goroutine, and one for shard 3 does not.
//
//nolint:lll // raw text that cannot be broken
func TestWritersOfDifferentShardsDoNotWaitForEachOther(t *testing.T) {
	x := indextest.Seeded(t, New, nil, 0, 0)
	here, there := blocksIn(3, 0, 4), blocksIn(4, 0, 4)
	var written atomic.Bool
	done := make(chan index.Outcome, 1)
	x.shards[3].mu.Lock()
	go func() {
		out := x.Apply(index.Batch{Host: 0, Seq: 9, Ops: []index.Op{{Kind: index.Store, Blocks: here, RootKnown: true}}})
		written.Store(true)
		done <- out
	}()
	for seq := range uint64(1000) { // would hang here if it waited
		ops := []index.Op{{Kind: index.Store, Blocks: there, RootKnown: true}}
		if seq%2 == 1 {
			ops[0].Kind = index.Remove
		}
		if out := x.Apply(index.Batch{Host: 1, Epoch: 1, Seq: seq, Ops: ops}); out != index.Applied {
			t.Fatalf("batch %d: %s", seq, out)
		}
	}
	if _, held := x.shards[3].blocks[here[0]]; written.Load() || held {
		t.Error("a batch went into a shard that another holds")
	}
	x.shards[3].mu.Unlock()
	if out := <-done; out != index.Applied && out != index.Gap {
		t.Error(out)
	}
	if !x.shards[3].holders(here[0]).Has(0) || x.shards[4].holders(there[0]).Has(1) {
		t.Error("not what was written last")
	}
	if err := x.Check(); err != nil {
		t.Error(err)
	}
}

// BenchmarkShardedWrites stores and removes chains of 32 blocks: each goroutine those of a replica and of shards of its
// own (apart), or all in the same four shards (together). With -cpu 1,2 the first scales as far as the machine does.
//
//nolint:lll // raw text that cannot be broken
func BenchmarkShardedWrites(b *testing.B) {
	for _, c := range []struct {
		name  string
		shard func(writer uint8) uint8 // the first of four
	}{
		{"apart", func(writer uint8) uint8 { return writer * 4 }},
		{"together", func(uint8) uint8 { return 0 }},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, err := New(index.Config{})
			if err != nil {
				b.Fatal(err)
			}
			for h := range index.HostID(64) {
				_ = x.Admit(h)
			}
			var writers atomic.Uint32
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				w := uint8(writers.Add(1)-1) % 64
				var chain []kvpool.BlockHash
				for s := range uint8(4) {
					chain = append(chain, blocksIn(c.shard(w)+s, kvpool.BlockHash(w)<<32, 8)...)
				}
				ops := [2][]index.Op{{{Kind: index.Store, Blocks: chain, RootKnown: true}}, {{Kind: index.Remove, Blocks: chain}}}
				for seq := uint64(1); pb.Next(); seq++ {
					x.Apply(index.Batch{Host: index.HostID(w), Epoch: 1, Seq: seq, Ops: ops[seq&1^1]})
				}
			})
		})
	}
}
