package runs

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/index"
	"octet/routing/index/indextest"
)

// sampled is how many queries' times are kept; each is one of sampleEvery.
const (
	sampled     = 1 << 16
	sampleEvery = 8
)

// askTimed asks for one prompt after the other and reports the median and the 99th percentile of single queries' times,
// which include some 50 ns of reading the clock.
func askTimed(b *testing.B, l *loaded, among index.HostBitmap) {
	var out [index.MaxHosts]uint16
	rng := rand.New(rand.NewPCG(2, 2))
	times := make([]time.Duration, 0, sampled)
	for n := 0; b.Loop(); n++ {
		chain := l.prompts[rng.IntN(len(l.prompts))].chain
		if n%sampleEvery != 0 || len(times) == sampled {
			l.x.Depths(chain, among, &out)
			continue
		}
		began := time.Now()
		l.x.Depths(chain, among, &out)
		times = append(times, time.Since(began))
	}
	if slices.Sort(times); len(times) > 0 {
		b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
		b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
	}
}

// MOD2-02
func BenchmarkIndexDepthsTail(b *testing.B) {
	eachIndex(b, func(b *testing.B, l *loaded) { askTimed(b, l, l.x.Alive()) })
}

// BenchmarkIndexDepthsDuringSweep asks while replica 0, which holds 40,000 blocks of its own and as many of others, is
// retired, swept, admitted and filled again, over and over. MOD2-48
func BenchmarkIndexDepthsDuringSweep(b *testing.B) {
	const own = 40_000
	eachIndex(b, func(b *testing.B, l *loaded) {
		chains := make([][]kvpool.BlockHash, own/200)
		for i := range chains {
			chains[i] = indextest.Chain(200, string(rune('a'+i)))
		}
		stop, done := make(chan struct{}), make(chan struct{})
		var swept atomic.Int64
		sweeping := func() {
			defer close(done)
			for epoch := uint64(1); ; epoch++ {
				select {
				case <-stop:
					return
				default:
				}
				for i, c := range chains {
					l.x.Apply(index.Batch{Epoch: epoch, Seq: uint64(i + 1),
						Ops: []index.Op{{Kind: index.Store, Blocks: c, RootKnown: true}}})
				}
				l.x.Retire(0)
				_ = l.x.Sweep(context.Background(), 0)
				_ = l.x.Admit(0)
				swept.Add(1)
			}
		}
		among := l.x.Alive()
		among.Clear(0)
		go sweeping()
		b.ResetTimer()
		askTimed(b, l, among)
		close(stop)
		<-done
		b.ReportMetric(float64(swept.Load())*own/b.Elapsed().Seconds(), "swept-blocks/s")
	})
}
