package records

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Errors of reading a subject.
var (
	ErrNotKept = errors.New("no JetStream stream keeps the subject")
	ErrGap     = errors.New("a record was lost on its way")
)

// handful is how many records are asked for at once: some of them hold two answers.
const handful = 64

// forgetAfter is how long the server remembers a reader that is gone without a word.
const forgetAfter = time.Minute

// Lines reads all records that a JetStream of the server has of the subject, the oldest first. It ends with the last
// that was there when it began, or with an error, ctx's included. It leaves nothing behind at the server.
func (c NATSConfig) Lines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := c.each(ctx, func(line []byte) bool { return yield(line, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (c NATSConfig) each(ctx context.Context, see func([]byte) bool) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)() // it wakes whatever waits for an answer
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	stream, err := js.StreamNameBySubject(ctx, c.Subject)
	if err != nil {
		return errors.Join(fmt.Errorf("%w %q: %w", ErrNotKept, c.Subject, err), context.Cause(ctx))
	}
	source, err := js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
		FilterSubject: c.Subject, AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: forgetAfter,
		MemoryStorage: true,
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", stream, err)
	}
	name := source.CachedInfo().Name
	defer func() { _ = js.DeleteConsumer(ctx, stream, name) }() // else the server forgets it
	if err := drain(ctx, source, see); err != nil {
		return errors.Join(fmt.Errorf("reading %s: %w", stream, err), context.Cause(ctx))
	}
	return nil
}

// drain shows what a consumer had before it when it was made, page by page.
func drain(ctx context.Context, source jetstream.Consumer, see func([]byte) bool) error {
	t := tail{left: source.CachedInfo().NumPending, see: see}
	for t.left > 0 {
		if ctx.Err() != nil { // what had come before the connection was closed may still be read
			return context.Cause(ctx)
		}
		batch, err := source.FetchNoWait(handful)
		if err != nil {
			return err
		}
		before := t.read
		for m := range batch.Messages() {
			if more, err := t.take(m); err != nil || !more {
				return err
			}
		}
		if err := batch.Error(); err != nil {
			return err
		}
		if t.read > before {
			continue
		}
		now, err := source.Info(ctx)
		if err != nil || now.NumPending > 0 {
			return errors.Join(fmt.Errorf("%w: %d are not delivered", ErrGap, t.left), err)
		}
		return nil // the stream's own limits dropped the rest meanwhile
	}
	return nil
}

// tail is what is yet to be read.
type tail struct {
	left uint64 // records
	read uint64
	see  func([]byte) bool
}

func (t *tail) take(m jetstream.Msg) (more bool, err error) {
	about, err := m.Metadata()
	if err != nil {
		return false, err
	}
	if t.read++; about.Sequence.Consumer != t.read {
		return false, fmt.Errorf("%w: %d came as the %dth", ErrGap, about.Sequence.Consumer, t.read)
	}
	t.left--
	return t.see(m.Data()) && t.left > 0, nil
}
