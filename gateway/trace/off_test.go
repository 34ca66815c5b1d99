package trace

import (
	"testing"
	"time"

	"octet/gateway/receipt"
)

// clockAt tells a time that stands still.
type clockAt time.Duration

func (c clockAt) Since() time.Duration { return time.Duration(c) }

// Where requests are not traced, no step of a request's way costs memory, and its engines are sent nothing.
func TestNoTracesCostNoMemory(t *testing.T) {
	r := new(receipt.Receipt)
	if n := testing.AllocsPerRun(100, func() {
		var d *Draft
		d.Explain()
		d.Classified(0, 1, nil)
		d.Routed(1, 2, nil)
		d.Held(2, 3, nil)
		d.Turn(3)
		d.Queued(3, 4, nil)
		if d.Ask() != "" || d.AskBeside(d.Turns(), clockAt(0)) != "" {
			t.Error("an engine is sent a trace")
		}
		d.Began(5, true)
		d.TurnEnded(6)
		if d.Kept(Fault(r, true)) {
			t.Error("there is a trace")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// noSink has no room.
type noSink struct{}

func (noSink) Room() bool { return false }
func (noSink) Take(Trace) {}

// BenchmarkNotSampled is what a request costs whose trace is not kept: most of them, where a share is sampled.
func BenchmarkNotSampled(b *testing.B) {
	tracer, r := New(0, false, noSink{}), new(receipt.Receipt)
	b.ReportAllocs()
	for b.Loop() {
		d := new(Draft)
		tracer.Begin(d, "0123456789abcdef0123456789abcdef", "", "")
		d.Classified(0, 1, nil)
		d.Routed(1, 2, nil)
		d.Turn(3)
		d.Queued(3, 4, nil)
		if d.Ask() == "" {
			b.Fatal("no engine is told")
		}
		d.Began(5, false)
		d.TurnEnded(6)
		if d.Kept(Fault(r, false)) {
			b.Fatal("it is kept")
		}
	}
}
