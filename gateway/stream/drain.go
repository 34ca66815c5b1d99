package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"octet/engine"
	"octet/gateway/sse"
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

// Swallow sends q to an engine and reads the answer to its end, for nothing but how it ends. accepted is called once
// the engine has taken q; refused makes the error of a status other than 200. What is no answer is a *Unusable.
func Swallow(ctx context.Context, client engine.Client, q *engine.Request, accepted func(),
	refused func(engine.Response) error) error {
	resp, err := client.Do(ctx, q)
	if err != nil {
		return err
	}
	defer resp.Close()
	if resp.Status() != 200 {
		return refused(resp)
	}
	accepted()
	resp.SetIdle(q.IdleTimeout)
	var events sse.Scanner
	events.Reset(sse.Options{})
	for err == nil {
		var piece []byte
		piece, err = engine.Next(resp)
		if q.Stream && len(piece) > 0 {
			if _, bad := events.Feed(piece); bad != nil {
				return &Unusable{Begun: true, Err: bad}
			}
		}
	}
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case q.Stream && !events.Done():
		return fmt.Errorf("%w: the stream has no end", engine.ErrReset)
	}
	return nil
}
