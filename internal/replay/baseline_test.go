package replay

import (
	"testing"
	"time"

	"octet/routing/plugins"
)

// When all is answered no ledger holds anything, the index knows as many blocks as the caches hold, and the rate that
// routing reads is the engines'.
func TestAReplayEndsAtItsBaseline(t *testing.T) {
	trace := Trace{Block: TraceBlock}
	for i := range 200 {
		talk := uint64(i%20) * 1000
		r := Request{At: time.Duration(i) * 40 * time.Millisecond, Input: 512*(i/20+2) + i, Output: 1 + i%50}
		for at := range uint64((r.Input + TraceBlock - 1) / TraceBlock) {
			r.Blocks = append(r.Blocks, Span{talk + at, 1})
		}
		trace.Requests = append(trace.Requests, r)
	}
	spec, _ := plugins.Preset("default")
	c := Default()
	c.Replicas = 3
	r, err := newRun(c, trace, Contender{Name: "default", Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	began := false
	for r.step() {
		for _, rep := range r.replicas {
			began = began || rep.member.InFlight() > 1
		}
	}
	if !began {
		t.Error("nothing was ever in flight")
	}
	for _, rep := range r.replicas {
		load, work, stats := rep.member.Load(), rep.member.Work(r.clock()), rep.core.Stats()
		if load.InFlight != 0 || load.Tokens != 0 || load.Backlog != 0 || work.Tokens != 0 || stats.Used != 0 {
			t.Errorf("replica %d: %+v, %+v, %d blocks in use", rep.host, load, work, stats.Used)
		}
		if work.Rate < c.Timing.Prefill/2 || work.Rate > c.Timing.Prefill {
			t.Errorf("replica %d: %v tokens a second, the engine computes %v", rep.host, work.Rate, c.Timing.Prefill)
		}
		if held := r.index.Host(rep.host).Blocks; held != stats.Cached {
			t.Errorf("replica %d: %d blocks in the index, %d in the cache", rep.host, held, stats.Cached)
		}
	}
}
