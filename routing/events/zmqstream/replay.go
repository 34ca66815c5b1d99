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

// errReplay means that an answer is not a replay: its numbers do not grow, or most of its messages are no batches.
var errReplay = errors.New("zmqstream: not a replay")

// maxStray is how many messages of a replay may be something else than a batch.
const maxStray = 16

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
		f.meter.Failed(err)
		wait.Pause(ctx)
	}
}

// askOnce has a connection of its own: an answer that was given up cannot be mistaken for the next one's.
func (f *follower) askOnce(ctx context.Context, from uint64, each func(message) bool) (some bool, err error) {
	return replayFrom(ctx, f.replay, from, f.meter.Skipped, each)
}

// replayFrom asks a ROUTER socket once. skipped is called for each message that is no batch. As long as the numbers
// grow, the answer may be of any length; one that goes on otherwise is given up.
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
	for strays, last := 0, uint64(0); ; {
		if err := conn.SetReadDeadline(time.Now().Add(replyTimeout)); err != nil {
			return some, err
		}
		frames, err := conn.Receive()
		if err != nil {
			return some, fmt.Errorf("zmqstream: replaying from %d: %w", from, err)
		}
		m, ok := parse(frames)
		switch {
		case !ok && strays == maxStray:
			return some, fmt.Errorf("%w: %d messages of it are no batches", errReplay, strays+1)
		case !ok:
			skipped()
			strays++
			continue
		case m.seq == farSeq && len(m.payload) == 0:
			return some, nil
		case some && m.seq <= last:
			return some, fmt.Errorf("%w: batch %d comes after %d", errReplay, m.seq, last)
		}
		some, last = true, m.seq
		if !each(m) {
			return some, nil
		}
	}
}
