package cmd

import (
	"context"
	"log/slog"
	"sync"

	"octet/config"
	"octet/routing/events"
	"octet/routing/events/zmqstream"
	"octet/routing/index"
)

// sockets are the engines' own event sockets that are being followed, one consumer a replica.
type sockets struct {
	feed *events.Feed
	log  *slog.Logger

	mu   sync.Mutex
	life context.Context // of all consumers; nil until start
	open map[string]*socket
}

// socket is one replica's.
type socket struct {
	host     index.HostID
	config   config.ReplicaEvents
	consumer *zmqstream.Consumer
	stop     func() // waits; nil until it runs
}

// zmqSource is the name by which a replica's own socket delivers.
func zmqSource(replica string) string { return "zmq/" + replica }

// sourceOf returns the only source that may speak for a replica; "" is any.
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

// retire ends the consumers of replicas that are gone, have moved or listen elsewhere now. What it ended delivers
// nothing more.
func (s *sockets) retire(staying map[string]*resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, old := range s.open {
		now := staying[name]
		if now != nil && now.events != nil && *now.events == old.config && now.replica.Host == old.host {
			continue
		}
		if old.stop != nil {
			old.stop()
		}
		delete(s.open, name)
	}
}

// follow opens the sockets of replicas that have one and are not followed yet.
func (s *sockets) follow(staying map[string]*resident) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range staying {
		if s.open[name] != nil || r.events == nil || r.events.ZMQ == "" {
			continue
		}
		c, err := zmqstream.NewConsumer(zmqstream.Config{
			Replica: name, Endpoint: r.events.ZMQ, Replay: r.events.Replay, Topic: r.events.Topic,
			Resume: func() (events.Position, bool) { return s.feed.Position(name) },
		})
		if err != nil {
			s.log.Error("the engine's event socket cannot be used", "replica", name, "error", err)
			continue
		}
		one := &socket{host: r.replica.Host, config: *r.events, consumer: c}
		s.open[name] = one
		if s.life != nil {
			s.run(name, one)
		}
	}
}

// start lets consumers run, until ctx ends. wait returns when they have.
func (s *sockets) start(ctx context.Context) (wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = ctx
	for name, one := range s.open {
		s.run(name, one)
	}
	return func() { s.retire(nil) }
}

// run follows one socket. Under mu.
func (s *sockets) run(name string, one *socket) {
	ctx, cancel := context.WithCancel(s.life)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := one.consumer.Consume(ctx, s.feed.From(zmqSource(name))); err != nil && ctx.Err() == nil {
			s.log.Error("cache events stopped", "source", zmqSource(name), "error", err)
		}
	}()
	one.stop = func() {
		cancel()
		<-ended
	}
}

// stats returns how each is doing, by source name.
func (s *sockets) stats() map[string]events.ConsumerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]events.ConsumerStats, len(s.open))
	for name, one := range s.open {
		all[zmqSource(name)] = one.consumer.Stats()
	}
	return all
}
