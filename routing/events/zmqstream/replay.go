package zmqstream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// errNoReplay is an engine without a replay socket.
var errNoReplay = errors.New("zmqstream: no replay socket")

// ask passes each batch from number from on that the engine still has, in order, until each says no. It tries a few
// times until one came.
func (f *follower) ask(ctx context.Context, from uint64, each func(message) bool) error {
	if f.replay == nil {
		return errNoReplay
	}
	wait := events.NewBackoff()
	for try := 1; ; try++ {
		some, err := f.askOnce(ctx, from, each)
		if err == nil || some || try == f.attempts || ctx.Err() != nil {
			return err
		}
		f.meter.Failed()
		wait.Pause(ctx)
	}
}

// askOnce has a connection of its own: an answer that was given up cannot be mistaken for the next one's.
func (f *follower) askOnce(ctx context.Context, from uint64, each func(message) bool) (some bool, err error) {
	return replayFrom(ctx, f.replay, from, f.meter.Skipped, each)
}

// replayFrom asks a ROUTER socket once. skipped is called for each message that is none.
func replayFrom(ctx context.Context, replay *zmtp.Endpoint, from uint64, skipped func(),
	each func(message) bool) (some bool, err error) {
	dialling, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := replay.Dial(dialling, "DEALER", limits())
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }() // nothing more is wanted of it
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.Send(nil, binary.BigEndian.AppendUint64(nil, from)); err != nil {
		return false, err
	}
	for {
		if err := conn.SetReadDeadline(time.Now().Add(replyTimeout)); err != nil {
			return some, err
		}
		frames, err := conn.Receive()
		if err != nil {
			return some, fmt.Errorf("zmqstream: replaying from %d: %w", from, err)
		}
		m, ok := parse(frames)
		switch {
		case !ok:
			skipped()
			continue
		case m.seq == farSeq && len(m.payload) == 0:
			return some, nil
		}
		some = true
		if !each(m) {
			return some, nil
		}
	}
}
