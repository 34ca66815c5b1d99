package zmqstream

import (
	"context"
	"errors"
	"fmt"

	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// ErrTaken means that the address where engines would be waited for is in use: a gateway listens there.
var ErrTaken = errors.New("zmqstream: the address is in use")

// Overheard is one message as an engine has published it, whatever its topic.
type Overheard struct {
	Topic string
	Seq   uint64
	Rank  *int         // that the batch says; nil if it says none
	Batch events.Batch // without an epoch; no events if it could not be read
	Bad   error        // why it could not; nil if it could
}

// Overhear listens to an engine beside its consumers, by c.Endpoint alone: it dials there, or waits for the engine to
// dial. It calls opened once the engine is there, then each for every message, until ctx ends or the connection does.
// ErrConfig and ErrTaken say why it cannot.
func Overhear(ctx context.Context, c Config, opened func(), each func(Overheard)) error {
	live, err := c.endpoint()
	if err != nil {
		return err
	}
	conn, err := meet(ctx, live)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nothing more is wanted of it
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.Subscribe(""); err != nil {
		return err
	}
	opened()
	var d decoder
	for {
		frames, err := conn.Receive()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if m, ok := parse(frames); ok {
			each(d.overheard(c.Replica, frames, m))
		}
	}
}

func (d *decoder) overheard(replica string, frames [][]byte, m message) Overheard {
	o := Overheard{Seq: m.seq}
	if len(frames) > 2 {
		o.Topic = string(frames[len(frames)-3])
	}
	o.Batch = events.Batch{Replica: replica, Seq: m.seq}
	o.Batch.At, o.Batch.Events, o.Bad = d.decode(m.payload)
	if d.rank != noRank {
		rank := int(d.rank)
		o.Rank = &rank
	}
	return o
}

// meet returns the connection to the engine: by dialling, or the first that engines make.
func meet(ctx context.Context, live zmtp.Endpoint) (*zmtp.Conn, error) {
	if !live.Any() {
		return live.Dial(ctx, "SUB", limits())
	}
	l, err := live.Listen()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTaken, err)
	}
	defer func() { _ = l.Close() }() // closed before where ctx ended
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		peer, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = peer.Close() // it is not read
			}
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = peer.Close() })
		conn, err := zmtp.Open(peer, "SUB", limits())
		if stop() && err == nil {
			return conn, nil
		}
		_ = peer.Close() // not an engine, or everything ends
	}
}

// Kept is what an engine's replay socket still has.
type Kept struct {
	Batches int
	First   uint64 // its number; meaningful if there are Batches
}

// CountKept asks an engine for what it would replay, and counts until there are most.
func CountKept(ctx context.Context, c Config, most int) (k Kept, err error) {
	replay, err := c.dialled(c.Replay)
	if err == nil && replay == nil {
		err = errNoReplay
	}
	if err != nil {
		return k, err
	}
	_, err = replayFrom(ctx, replay, 0, func() {}, func(m message) bool {
		if k.Batches == 0 {
			k.First = m.seq
		}
		k.Batches++
		return k.Batches < most
	})
	return k, err
}
