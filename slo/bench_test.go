package slo

import (
	"fmt"
	"testing"
	"time"
)

// busy is a board in its steady state: latencies of all sizes in every slot.
func busy() *Board {
	c := &clock{at: time.Now().Add(-5 * time.Minute)}
	b := NewBoard(Config{Now: c.now})
	for i := range 10_000 {
		b.ObserveTTFT(b.cfg.Now(), time.Duration(i)*time.Millisecond)
		b.ObserveAdmission(b.cfg.Now(), time.Duration(i)*100*time.Microsecond)
		b.ObserveITL(time.Duration(i) * 10 * time.Microsecond)
		b.ObserveEnd(b.cfg.Now(), i%50 == 0)
		b.Outcome(Verdict{Answered: b.cfg.Now(), Pass: i%40 != 0})
		c.advance(30 * time.Millisecond)
	}
	b.cfg.Now = time.Now
	return b
}

// BenchmarkObserve is what a token costs on its way (gap, flushes included), and what an answer costs once (ttft).
func BenchmarkObserve(b *testing.B) {
	b.Run("gap", func(b *testing.B) {
		var g Gaps
		g.Reset(busy())
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			g.Add(time.Duration(10_000_000 + i&0xfffff))
		}
	})
	b.Run("ttft", func(b *testing.B) {
		board := busy()
		now := time.Now() // the caller has it
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			board.ObserveTTFT(now, time.Duration(10_000_000+i&0xfffff))
		}
	})
}

// BenchmarkHeaders is all SLO headers of one answer, their preparation every 250 ms included.
func BenchmarkHeaders(b *testing.B) {
	board := busy()
	into := make([]byte, 0, 1<<10)
	b.ReportAllocs()
	for b.Loop() {
		into = append(into[:0], board.LinesAt(board.cfg.Now())...)
	}
}

// BenchmarkPrepareHeaders is what one caller in 250 ms pays.
func BenchmarkPrepareHeaders(b *testing.B) {
	board := busy()
	b.ReportAllocs()
	for b.Loop() {
		board.published.Store(nil)
		_ = board.Headers()
	}
}

func BenchmarkKnobValue(b *testing.B) {
	var all []Knob
	for i := range 8 {
		all = append(all, IntentKnobs(fmt.Sprint("intent", i), 0.3, 0.2)...)
	}
	k, _ := NewKnobs(nil, all...)
	_ = k.Set("priority_floor.intent3", Override{Value: 1, Until: time.Now().Add(time.Hour)})
	for _, name := range []string{"priority_floor.intent2", "priority_floor.intent3"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = k.Value(name)
			}
		})
	}
}

func TestFetchingHeadersAndObservingAllocateNothing(t *testing.T) {
	c := newClock()
	b := NewBoard(Config{Now: c.now})
	var g Gaps
	g.Reset(b)
	for range 100 {
		b.ObserveTTFT(b.cfg.Now(), time.Millisecond)
		g.Add(time.Millisecond)
	}
	_ = b.Headers()
	if n := testing.AllocsPerRun(1000, func() {
		_ = b.Headers()
		g.Add(time.Millisecond)
		b.ObserveTTFT(b.cfg.Now(), time.Millisecond)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
