package runs

import (
	"fmt"
	"testing"

	"octet/kvpool"
	"octet/routing/index"
)

// BenchmarkIndexEvict stores new chains in an index that is full, so that as many blocks go as come.
func BenchmarkIndexEvict(b *testing.B) {
	for _, length := range []int{16, 512} {
		b.Run(fmt.Sprintf("runs=%d", length), func(b *testing.B) {
			x, _ := New(index.Config{MaxBytes: 64 << 20})
			x.Admit(0)
			g, seq := &grown{x: x, length: length}, uint64(0)
			var chain []kvpool.BlockHash
			ops := make([]index.Op, 1)
			next := func() {
				seq++
				chain = g.chain(g.head(int(seq)), chain[:0])
				ops[0] = index.Op{Kind: index.Store, Blocks: chain, RootKnown: true}
				x.Apply(index.Batch{Seq: seq, Ops: ops})
			}
			for entries := 0; x.Stats().Evicted <= uint64(entries); entries = x.Stats().Entries { // and once around
				next()
			}
			b.ReportAllocs()
			b.ResetTimer()
			began := cpuTime()
			for b.Loop() {
				next()
			}
			b.ReportMetric(float64(b.N*length)*1e3/float64(cpuTime()-began), "Mblocks/cpu-s")
			b.ReportMetric(float64(x.Stats().Bytes)/float64(x.Stats().Entries), "B/block")
		})
	}
}
