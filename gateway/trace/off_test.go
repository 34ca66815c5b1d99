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
	var tracer *Tracer
	ending := &Ending{Receipt: new(receipt.Receipt)}
	if n := testing.AllocsPerRun(100, func() {
		d := tracer.Begin("", "", "")
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
		if d.End(ending) != "" {
			t.Error("there is a trace")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
