package events

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Local carries batches inside one process: it is a Publisher and the Consumer of what is published to it. Its buffer
// is bounded and publishing never waits: what does not fit is dropped, and its gap shows downstream.
type Local struct {
	queue  chan Batch
	closed atomic.Bool
	meter  Meter
	lost   atomic.Uint64
}

// NewLocal returns a Local that holds at most buffer batches, at least one.
func NewLocal(buffer int) *Local { return &Local{queue: make(chan Batch, max(buffer, 1))} }

// Publish implements Publisher. It fails with ErrFull when the buffer is full, ErrClosed after Close, and as
// Batch.Check does. The batch is the consumer's from then on: the caller changes nothing in it any more.
func (l *Local) Publish(_ context.Context, b Batch) error {
	if l.closed.Load() {
		return ErrClosed
	}
	b.Sift()
	if err := b.Check(); err != nil {
		return err
	}
	select {
	case l.queue <- b:
		return nil
	default:
		l.lost.Add(1)
		return fmt.Errorf("%w: %d batches wait already", ErrFull, cap(l.queue))
	}
}

// Close implements Publisher. What was published is still consumed.
func (l *Local) Close() error {
	l.closed.Store(true)
	return nil
}

// Consume implements Consumer. Several may consume at once; each batch goes to one of them.
func (l *Local) Consume(ctx context.Context, sink Sink) error {
	return Persist(ctx, &l.meter, func() error { return l.consume(ctx, sink) })
}

func (l *Local) consume(ctx context.Context, sink Sink) error {
	session := OpenSession(sink)
	defer session.Close()
	l.meter.Up()
	defer l.meter.Down()
	for {
		select {
		case b := <-l.queue:
			l.meter.Took(b.At, time.Now())
			session.Deliver(b)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Lost returns how many batches found no room.
func (l *Local) Lost() uint64 { return l.lost.Load() }

// Stats returns what Consume has done so far.
func (l *Local) Stats() ConsumerStats { return l.meter.Stats() }
