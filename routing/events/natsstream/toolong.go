package natsstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/internal/natsclient"
)

// headerSize is what the server tells a message's size by, where it sends headers alone.
const headerSize = "Nats-Msg-Size"

// breaker ends the reading of messages where one was so long that it has ended the connection: the library would ask
// for it again and again. Safe for concurrent use.
type breaker struct {
	open atomic.Pointer[jetstream.MessagesContext] // that are read; nil before the first
	due  atomic.Bool                               // the next message is to be looked at before it is asked for
}

// lost notes why a connection was lost.
func (b *breaker) lost(err error) {
	if !errors.Is(err, natsclient.ErrProtocol) {
		return
	}
	b.due.Store(true)
	if open := b.open.Load(); open != nil {
		(*open).Stop()
	}
}

// pass reads on up to the next message that is longer than one may be, and passes over that one. The server is asked
// for sizes and headers first, and then for so many messages as come before it.
func (r *reader) pass(ctx context.Context) error {
	before, long, err := r.scan(ctx)
	if err != nil {
		return err
	}
	if long > 0 && before > 0 {
		err := r.fetch(ctx, r.from(), before, func(m jetstream.Msg, about *jetstream.MsgMetadata) bool {
			before--
			r.last = about.Sequence.Stream
			r.take(m, about.Timestamp)
			return true
		})
		if err == nil && before > 0 {
			err = fmt.Errorf("%d did not come", before)
		}
		if err != nil {
			return fmt.Errorf("natsstream: reading the messages before %d of %s: %w", long, r.config.Stream, err)
		}
	}
	r.broken.due.Store(false)
	if long > 0 {
		r.last = long
		r.meter.Skipped()
	}
	return nil
}

// scan looks for a message that is too long among the next ones. It returns its number in the stream, and how many come
// before it; 0 if none of them is.
func (r *reader) scan(ctx context.Context) (before int, long uint64, err error) {
	c := r.from()
	c.HeadersOnly = true
	err = r.fetch(ctx, c, ahead, func(m jetstream.Msg, about *jetstream.MsgMetadata) bool {
		if sizeOf(m.Headers()) > r.config.most() {
			long = about.Sequence.Stream
			return false
		}
		before++
		return true
	})
	if err != nil {
		err = fmt.Errorf("natsstream: looking at the next messages of %s: %w", r.config.Stream, err)
	}
	return before, long, err
}

// fetch calls each for at most n of the messages that are there, until it returns false.
func (r *reader) fetch(ctx context.Context, c jetstream.OrderedConsumerConfig, n int,
	each func(jetstream.Msg, *jetstream.MsgMetadata) bool) error {
	source, err := r.stream.OrderedConsumer(ctx, c)
	if err != nil {
		return err
	}
	all, err := source.FetchNoWait(n)
	if err != nil {
		return err
	}
	more := true
	for m := range all.Messages() {
		if about, err := m.Metadata(); more && err == nil {
			more = each(m, about)
		}
	}
	return all.Error()
}

// sizeOf returns how long a message is with its headers, which are all that was sent of it.
func sizeOf(headers nats.Header) int64 {
	size, _ := strconv.ParseInt(headers.Get(headerSize), 10, 64) // 0 is not known
	size += int64(len("NATS/1.0\r\n\r\n"))
	for name, values := range headers {
		for _, v := range values {
			size += int64(len(name) + len(": \r\n") + len(v))
		}
	}
	return size
}

// most returns how long a message may be.
func (c Config) most() int64 {
	if c.MaxMessage > 0 {
		return c.MaxMessage
	}
	return natsclient.DefaultMaxMessage
}
