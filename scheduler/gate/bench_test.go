package gate

import (
	"context"
	"fmt"
	"testing"
	"time"

	"octet/kvpool"
)

func benchGate(b *testing.B) *Gate {
	b.Helper()
	g, err := New(Config{Blocks: 4096, BlockSize: 16, MaxRunning: 64, MaxWaiting: 20_000, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// BenchmarkGateAdmit is Admit, FirstToken and Release of a prompt of 512 tokens: uncontended, as the most urgent of
// 10,000 that wait for blocks, and through the queue.
func BenchmarkGateAdmit(b *testing.B) {
	var h kvpool.Hasher
	chain := h.Chain(nil, 1, make([]uint32, 512), 16)
	r := Request{ID: "bench", Chain: chain, PromptTokens: 512, MaxNew: 128, Priority: 1}
	cycle := func(b *testing.B, g *Gate) {
		t, err := g.Admit(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		t.FirstToken()
		t.Release()
	}
	b.Run("uncontended", func(b *testing.B) {
		g := benchGate(b)
		b.ReportAllocs()
		for b.Loop() {
			cycle(b, g)
		}
	})
	b.Run("waiters=10000", func(b *testing.B) {
		g := benchGate(b)
		stop := crowdGate(b, g, 10_000)
		b.ReportAllocs()
		for b.Loop() {
			cycle(b, g)
		}
		b.StopTimer()
		stop()
	})
	b.Run("handover=10000", func(b *testing.B) { // a place that passes from one to the next, in front of the crowd
		g := benchGate(b)
		stop := crowdGate(b, g, 10_000)
		g.Reconfigure(Config{MaxRunning: 2, MaxWaiting: 20_000}) // the holder's place and one more
		t, err := g.Admit(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			_, w, err := g.ask(&r)
			if err != nil {
				b.Fatal(err)
			}
			t.Release()
			<-w.settled
			t = w.granted()
		}
		b.StopTimer()
		t.Release()
		stop()
	})
}

// crowdGate queues n requests that never fit while one holds part of the pool, and returns what ends them.
func crowdGate(b *testing.B, g *Gate, n int) (stop func()) {
	b.Helper()
	holder, err := g.Admit(b.Context(), Request{ID: "holder", PromptTokens: 100})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	for range n {
		go func() {
			_, err := g.Admit(ctx, Request{ID: "crowd", PromptTokens: 65_500})
			if err == nil {
				b.Error("the crowd got in")
			}
			done <- struct{}{}
		}()
	}
	for g.Stats().Waiting < n {
		time.Sleep(time.Millisecond) // real time: the requests come to wait
	}
	return func() {
		cancel()
		for range n {
			<-done
		}
		holder.Release()
	}
}

// BenchmarkGateLongPrompt is Admit, Answered and Release of a prompt of 1024 blocks in a full cache: one of 32 that are
// known, half of it common to all, and one whose second half is new each time.
func BenchmarkGateLongPrompt(b *testing.B) {
	const blocks = 1024
	var h kvpool.Hasher
	common := h.Chain(nil, 1, make([]uint32, blocks/2*16), 16)
	prompt := func(i int, dst []kvpool.BlockHash) []kvpool.BlockHash {
		dst = append(dst[:0], common...)
		for k := range blocks / 2 {
			dst = append(dst, h.Next(common[0], []uint32{uint32(i), uint32(k)}))
		}
		return dst
	}
	for _, name := range []string{"known", "new"} {
		b.Run(name, func(b *testing.B) {
			g, err := New(Config{Blocks: 65536, BlockSize: 16, MaxRunning: 64, MaxWaiting: 64, Now: time.Now})
			if err != nil {
				b.Fatal(err)
			}
			var chain []kvpool.BlockHash
			one := func(i int) {
				if name == "known" {
					i %= 32
				}
				b.StopTimer()
				chain = prompt(i, chain)
				b.StartTimer()
				t, err := g.Admit(b.Context(),
					Request{ID: "bench", Chain: chain, PromptTokens: blocks * 16, MaxNew: 16, Whole: true,
						Victim: true})
				if err != nil {
					b.Fatal(err)
				}
				t.Answered(5)
				t.Release()
			}
			for i := range 300 {
				one(i)
			}
			b.ReportAllocs()
			for i := 300; b.Loop(); i++ {
				one(i)
			}
		})
	}
}

// BenchmarkGateAnswer is what an answer that comes at once asks of a Gate: Admit, Watch and Complete, of a prompt of 16
// blocks that is known.
func BenchmarkGateAnswer(b *testing.B) {
	g := benchGate(b)
	var h kvpool.Hasher
	chain := h.Chain(nil, 1, make([]uint32, 16*16), 16)
	preempted, arrived := hears(func() {}), time.Now()
	for _, deadline := range []bool{false, true} {
		b.Run(fmt.Sprintf("deadline=%t", deadline), func(b *testing.B) {
			r := Request{ID: "bench", Chain: chain, PromptTokens: 16*16 + 8, MaxNew: 16, Whole: true, Victim: true,
				Tenant: "bench", Arrived: arrived}
			if deadline {
				r.Deadline = time.Now().Add(time.Hour)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Now = time.Now()
				t, err := g.Admit(b.Context(), r)
				if err != nil {
					b.Fatal(err)
				}
				t.Watch(preempted)
				if !t.Complete(10, -1, r.Now) {
					b.Fatal("preempted")
				}
			}
		})
	}
}
