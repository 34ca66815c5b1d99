package fabric

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"

	"octet/config"
	"octet/internal/dialing"
	"octet/routing/events"
	"octet/routing/events/zmqstream"
	"octet/routing/index"
)

// sockets are the consumers of engines' own event sockets, one a replica.
type sockets struct {
	feed  *events.Feed
	log   *slog.Logger
	guard *dialing.Guard

	mu   sync.Mutex
	ctx  context.Context    // of all consumers; nil before start; guarded by mu
	open map[string]*socket // by replica; guarded by mu
}

// socket is the consumer of one replica's events.
type socket struct {
	host     index.HostID
	config   config.ReplicaEvents
	consumer *zmqstream.Consumer
	stop     func() // stops the consumer and waits for it; nil before it runs
}

// zmqSource returns the name of a replica's own socket as a source.
func zmqSource(replica string) string { return "zmq/" + replica }

// sourceOf returns the only source whose events count for a replica; empty if any may.
func sourceOf(replica string, e *config.ReplicaEvents) string {
	switch {
	case e == nil || e.Source == "any":
		return ""
	case e.ZMQ != "":
		return zmqSource(replica)
	case e.Source == "auto":
		return ""
	}
	return e.Source
}

// close stops the consumers of replicas that are not in staying, or have another slot or another socket there. When it
// returns they deliver nothing more.
func (s *sockets) close(staying map[string]Replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, old := range s.open {
		now, ok := staying[name]
		if ok && now.Events != nil && *now.Events == old.config && now.Host == old.host {
			continue
		}
		if old.stop != nil {
			old.stop()
		}
		delete(s.open, name)
	}
}

// follow opens the sockets of replicas that have one which is not open yet.
func (s *sockets) follow(staying map[string]Replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range staying {
		if s.open[name] != nil || r.Events == nil || r.Events.ZMQ == "" {
			continue
		}
		c, err := zmqstream.NewConsumer(zmqstream.Config{
			Replica: name, Rank: r.Rank,
			Endpoint: r.Events.ZMQ, Replay: r.Events.Replay, Snapshot: r.Events.Snapshot,
			Topic:   r.Events.Topic,
			Control: s.control(name), Resume: func() (events.Position, bool) { return s.feed.Position(name) },
		})
		if err != nil {
			s.log.Error("the engine's event socket cannot be used", "replica", name, "error", err)
			continue
		}
		one := &socket{host: r.Host, config: *r.Events, consumer: c}
		s.open[name] = one
		if s.ctx != nil {
			s.run(name, one)
		}
	}
}

// control returns what is asked with every address that a replica's sockets lead to, each time that they are dialled:
// a name may lead to another one by then.
func (s *sockets) control(replica string) func(network, address string, c syscall.RawConn) error {
	refused := new(atomic.Bool)
	return func(network, address string, c syscall.RawConn) error {
		err := s.guard.Control(network, address, c)
		if was := refused.Swap(err != nil); err != nil && !was {
			s.log.Warn("the engine's event socket is not connected to", "replica", replica, "error", err)
		}
		return err
	}
}

// start runs the consumers, and those that follow opens later, until ctx ends. wait returns when they have ended.
func (s *sockets) start(ctx context.Context) (wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
	for name, one := range s.open {
		s.run(name, one)
	}
	return func() { s.close(nil) }
}

// run starts one consumer. Needs mu.
func (s *sockets) run(name string, one *socket) {
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		takeIn(ctx, one.consumer, s.feed.From(zmqSource(name)))
	}()
	one.stop = func() {
		cancel()
		<-ended
	}
}

// stats returns the counts of each, by source name.
func (s *sockets) stats() map[string]events.ConsumerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]events.ConsumerStats, len(s.open))
	for name, one := range s.open {
		all[zmqSource(name)] = one.consumer.Stats()
	}
	return all
}
