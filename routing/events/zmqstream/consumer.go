package zmqstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// Consumer follows one engine's PUB socket.
type Consumer struct {
	config Config
	live   zmtp.Endpoint
	replay *zmtp.Endpoint // nil: none
	whole  *zmtp.Endpoint // where snapshots are asked for; nil: none
	meter  events.Meter
	seat   seat // of the engine that dials
}

// NewConsumer returns a Consumer, without connecting yet. It fails with ErrConfig.
func NewConsumer(c Config) (*Consumer, error) {
	live, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	replay, err := c.dialled(c.Replay)
	if err != nil {
		return nil, err
	}
	whole, err := c.dialled(c.Snapshot)
	if err != nil {
		return nil, err
	}
	return &Consumer{config: c, live: live, replay: replay, whole: whole}, nil
}

// Stats returns what Consume has done so far.
func (c *Consumer) Stats() events.ConsumerStats { return c.meter.Stats() }

// Consume implements events.Consumer: it returns ctx.Err() when ctx ends, or ErrConfig when it cannot listen. One at a
// time.
func (c *Consumer) Consume(ctx context.Context, sink events.Sink) error {
	return events.Persist(ctx, &c.meter, func() error { return c.consume(ctx, sink) })
}

func (c *Consumer) consume(ctx context.Context, sink events.Sink) error {
	lane := events.OpenSession(sink)
	defer lane.Close()
	defer c.meter.Down()
	f := newFollower(c, lane)
	next, stop, err := c.connections(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for wait := events.NewBackoff(); ctx.Err() == nil; {
		conn, err := next(ctx)
		if err == nil {
			c.meter.Up()
			began := time.Now()
			err = f.session(ctx, conn)
			_ = conn.Close() // it has failed
			c.seat.leave(conn)
			c.meter.Down()
			if time.Since(began) > lookFirst {
				wait.Reset()
			}
		}
		if ctx.Err() == nil && err != nil {
			c.meter.Failed(err)
			wait.Pause(ctx)
		}
	}
	return ctx.Err()
}

// connections returns where the next connection comes from: from dialling, or from the listener.
func (c *Consumer) connections(ctx context.Context) (next func(context.Context) (*zmtp.Conn, error), stop func(),
	err error) {
	if !c.live.Any() {
		return c.dial, func() {}, nil
	}
	l, err := c.live.Listen()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	incoming := make(chan *zmtp.Conn)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.accept(ctx, l, incoming)
	}()
	next = func(ctx context.Context) (*zmtp.Conn, error) {
		select {
		case conn := <-incoming:
			return conn, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return next, func() {
		cancel()
		_ = l.Close() // ends accept
		<-ended
	}, nil
}

func (c *Consumer) dial(ctx context.Context) (*zmtp.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return c.live.Dial(ctx, "SUB", limits())
}

// maxGreeting is how many peers may introduce themselves at once; further ones wait to be accepted.
const maxGreeting = 256

// accept hands over the connections of engines that dial, each as soon as it has introduced itself: a silent peer
// delays no other.
func (c *Consumer) accept(ctx context.Context, l net.Listener, incoming chan<- *zmtp.Conn) {
	var greeting sync.WaitGroup
	defer greeting.Wait()
	room := make(chan struct{}, maxGreeting)
	for {
		room <- struct{}{}
		peer, err := l.Accept()
		if err != nil {
			return
		}
		greeting.Go(func() {
			defer func() { <-room }()
			err := events.Guard(func() error { return c.greet(ctx, peer, incoming) })
			if errors.Is(err, events.ErrPanic) {
				c.meter.Panicked(err)
				_ = peer.Close() // it may be open still
			}
		})
	}
}

// greet takes a connection that an engine made. A new connection ends the one before it, which may be half dead, where
// it comes from the same host; from any other it is turned away until the one before it has ended.
func (c *Consumer) greet(ctx context.Context, peer net.Conn, incoming chan<- *zmtp.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = peer.Close() })
	conn, err := zmtp.Open(peer, "SUB", limits())
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = peer.Close() // not an engine, or everything ends
		return err
	}
	if !c.seat.take(conn) {
		c.meter.Denied()
		return conn.Close() // another engine
	}
	select {
	case incoming <- conn:
		return nil
	case <-ctx.Done():
		_ = conn.Close() // no reader is left to take it
		return ctx.Err()
	}
}
