package gateway

import (
	"time"

	"octet/engine"
)

// feeder is what an engine's response may be: it brings the pieces by itself, which costs less than to ask for each.
type feeder interface {
	Feed(piece func([]byte) error, pause func() error) error
}

// feed calls piece with each piece of an answer, and pause where nothing more is at hand; until either fails or the
// answer ends.
func feed(resp engine.Response, piece func([]byte) error, pause func() error) error {
	if f, ok := resp.(feeder); ok {
		return f.Feed(piece, pause)
	}
	for {
		if err := pause(); err != nil {
			return err
		}
		b, err := resp.Next()
		if err != nil {
			return err
		}
		if err := piece(b); err != nil {
			return err
		}
	}
}

// drainFor bounds the wait for the end of an answer whose last event has come.
const drainFor = 250 * time.Millisecond

func drain(resp engine.Response) {
	resp.SetIdle(drainFor)
	for range 4 {
		if _, err := resp.Next(); err != nil {
			return
		}
	}
}
