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

// pass sets last to the next message where that is longer than one may be, so that it is passed over. The server is
// asked for its size and headers alone.
func (r *reader) pass(ctx context.Context) error {
	c := r.from()
	c.HeadersOnly = true
	source, err := r.stream.OrderedConsumer(ctx, c)
	if err != nil {
		return fmt.Errorf("natsstream: consuming %s: %w", r.config.Stream, err)
	}
	m, err := source.Next(jetstream.FetchMaxWait(answerTimeout))
	if errors.Is(err, nats.ErrTimeout) {
		r.broken.due.Store(false) // it has gone
		return nil
	}
	if err != nil {
		return fmt.Errorf("natsstream: looking at the next message of %s: %w", r.config.Stream, err)
	}
	about, err := m.Metadata()
	if err != nil {
		return fmt.Errorf("natsstream: looking at the next message of %s: %w", r.config.Stream, err)
	}
	r.broken.due.Store(false)
	if sizeOf(m.Headers()) > r.config.most() {
		r.last = about.Sequence.Stream
		r.meter.Skipped()
	}
	return nil
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
