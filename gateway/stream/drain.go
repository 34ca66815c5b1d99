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
	for range 4 {
		if _, err := engine.Next(resp); err != nil {
			return
		}
	}
}
