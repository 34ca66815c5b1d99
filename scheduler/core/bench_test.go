package core

import (
	"fmt"
	"testing"

	"octet/scheduler"
)

const (
	benchRunning = 512
	benchNew     = 2048
	benchPrompt  = 64
)

// benchCore returns a core with benchRunning sequences past their prefill and waiting requests behind them.
func benchCore(b *testing.B, waiting int) (*Core, []Result) {
	b.Helper()
	c, err := New(Config{
		Blocks: benchRunning * (benchPrompt + benchNew) / 16, BlockSize: 16,
		MaxRunning: benchRunning, MaxWaiting: waiting + benchRunning, TokenBudget: benchRunning * benchPrompt,
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range benchRunning + waiting {
		benchAdd(b, c, uint64(i))
	}
	var rs []Result
	for c.Stats().Running < benchRunning || rs == nil {
		rs = benchStep(c, rs)
	}
	return c, rs
}

func benchAdd(b *testing.B, c *Core, id uint64) {
	prompt := make([]uint32, benchPrompt)
	prompt[0] = uint32(id)
	if _, err := c.Add(Request{ID: id, Tokens: prompt, Arrival: scheduler.Time(id), Priority: -int(id % 7),
		MaxNew: benchNew}, 0); err != nil {
		b.Fatal(err)
	}
}

var benchToken = []uint32{7}

func benchStep(c *Core, rs []Result) []Result {
	batch := c.Assemble(0)
	rs = rs[:0]
	for i := range batch.Items {
		r := Result{ID: batch.Items[i].ID}
		if batch.Items[i].Samples {
			r.Tokens = benchToken
		}
		rs = append(rs, r)
	}
	c.Commit(batch, rs, 0)
	c.TakeEvents()
	return rs
}

// BenchmarkCoreStep is Assemble, 512 results and Commit of a decode step, with a queue behind it.
func BenchmarkCoreStep(b *testing.B) {
	for _, waiting := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			c, rs := benchCore(b, waiting)
			left := benchNew - 2
			b.ReportAllocs()
			for b.Loop() {
				if left--; left == 0 {
					b.StopTimer()
					c, rs = benchCore(b, waiting)
					left = benchNew - 2
					b.StartTimer()
				}
				rs = benchStep(c, rs)
			}
		})
	}
}

// BenchmarkCoreQueue is one Add and one Cancel in mid-queue.
func BenchmarkCoreQueue(b *testing.B) {
	for _, waiting := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			c, _ := benchCore(b, waiting)
			id, prompt := uint64(10_000_000), make([]uint32, benchPrompt)
			b.ReportAllocs()
			for b.Loop() {
				id++
				if _, err := c.Add(Request{ID: id, Tokens: prompt, Arrival: scheduler.Time(id * 7919 % 100_000),
					Priority: -int(id % 7), MaxNew: 1}, 0); err != nil {
					b.Fatal(err)
				}
				c.Cancel(id)
			}
		})
	}
}

// BenchmarkCoreVictims is the choice among 512 running sequences of 132 blocks each, which is what a preemption adds to
// its step: all of one priority, spread over seven, and where not even all would do.
func BenchmarkCoreVictims(b *testing.B) {
	for _, bench := range []struct{ priorities, short, chosen int }{{1, 1, 1}, {7, 1, 1}, {1, 1 << 20, 0}} {
		b.Run(fmt.Sprintf("priorities=%d,chosen=%d", bench.priorities, bench.chosen), func(b *testing.B) {
			c, rs := benchCore(b, 1000)
			c.watermark = 0
			for range benchNew - 10 {
				rs = benchStep(c, rs)
			}
			for _, s := range c.running.groups[0].running {
				s.req.Priority %= bench.priorities
			}
			head := &sequence{req: Request{Priority: 1}}
			b.ReportAllocs()
			for b.Loop() {
				if n := len(c.choose(nil, c.pool.Free()+bench.short, head)); n != bench.chosen {
					b.Fatal(n)
				}
			}
		})
	}
}
