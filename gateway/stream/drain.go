package stream

import (
	"time"

	"octet/engine"
)

// drainFor bounds the wait for the end of an answer whose last event has come.
const drainFor = 250 * time.Millisecond

// Drain reads the rest of an answer whose last event has come, so that its connection can be used again.
func Drain(resp engine.Response) {
	resp.SetIdle(drainFor)
	few := draining(4)
	_ = resp.Feed(&few) // whatever comes, the answer is complete
}

// draining takes so many pieces more, for nothing but the end behind them.
type draining int

// Take implements engine.Sink.
func (d *draining) Take([]byte) (more bool, err error) {
	*d--
	return *d > 0, nil
}

// Pause implements engine.Sink.
func (*draining) Pause() (more bool, err error) { return true, nil }
