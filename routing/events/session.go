package events

import "sync/atomic"

// Carrier is a Sink for one transport. A transport carries each replica's batches in the order in which they were
// published; it may lose some, and it may begin again from an earlier one. Close tells that nothing more will come this
// way.
type Carrier interface {
	Sink
	Close()
}

// Merger is a Sink that tells its transports apart, so that it knows whether another one can still bring what one has
// lost.
type Merger interface {
	Sink
	Open() Carrier
}

// OpenSession returns the Carrier by which one Consume delivers to sink. Every Consumer opens one and closes it in the
// end; a sink that is not a Merger is delivered to as it is.
func OpenSession(sink Sink) Carrier {
	if m, ok := sink.(Merger); ok {
		return m.Open()
	}
	return plain{sink}
}

// From returns the feed as the source of that name delivers to it: batches of a replica whose Target names another
// source do not count. The name is the gateway's own, one for each place that batches come from; no publisher can
// choose it.
func (f *Feed) From(source string) Merger { return port{f, source} }

// port is a feed as one source sees it.
type port struct {
	feed   *Feed
	source string
}

// Deliver implements Sink.
func (p port) Deliver(b Batch) { p.feed.deliver(nil, p.source, b) }

// Open implements Merger.
func (p port) Open() Carrier { return &session{feed: p.feed, source: p.source} }

type plain struct{ Sink }

func (plain) Close() {}

// session is one transport's way into a feed.
type session struct {
	feed   *Feed
	source string
	closed atomic.Bool
}

// Deliver implements Sink.
func (l *session) Deliver(b Batch) { l.feed.deliver(l, l.source, b) }

// Close implements Carrier: what waited for this session alone waits no more.
func (l *session) Close() {
	l.closed.Store(true)
	now := l.feed.now()
	for _, s := range l.feed.all() {
		s.mu.Lock()
		if !s.gone {
			s.order.leave(l)
			s.lease.left(l, now)
			locked{l.feed, s}.drain()
		}
		s.mu.Unlock()
	}
}
