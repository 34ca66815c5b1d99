package apptest

import (
	"context"
	"sync/atomic"
	"time"

	"octet/routing/events"
)

// openings brings a world's cache events, and tells when each engine's first one, that its cache is empty, has come to
// the gateway. One that came after a test's first request would end what is guessed of where that request's blocks are.
type openings struct {
	*events.Local
	left atomic.Int32  // that have not come
	all  chan struct{} // closed when none is left
}

func newOpenings(local *events.Local, engines int) *openings {
	o := &openings{Local: local, all: make(chan struct{})}
	o.left.Store(int32(engines))
	if engines == 0 {
		close(o.all)
	}
	return o
}

// Consume implements events.Consumer.
func (o *openings) Consume(ctx context.Context, sink events.Sink) error {
	return o.Local.Consume(ctx, noting{sink, o})
}

// wait returns false if some have not come in a minute.
func (o *openings) wait() bool {
	select {
	case <-o.all:
		return true
	case <-time.After(time.Minute):
		return false
	}
}

// noting notes on the way which batches are openings. It implements events.Merger.
type noting struct {
	events.Sink
	openings *openings
}

func (n noting) Open() events.Carrier { return noted{events.OpenSession(n.Sink), n.openings} }

type noted struct {
	events.Carrier
	openings *openings
}

func (n noted) Deliver(b events.Batch) {
	n.Carrier.Deliver(b)
	if b.Seq == 1 && n.openings.left.Add(-1) == 0 {
		close(n.openings.all)
	}
}
