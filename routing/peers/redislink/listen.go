package redislink

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"octet/routing/peers/lease"
)

// minSilence is how long a server may say nothing, at least; it answers three pings in a lease.
const minSilence = time.Second

// listen implements lease.Listen.
func (l *Link) listen(ctx context.Context, up func(lease.Store)) error {
	c := l.keeper.Config()
	client, keys := l.open(1), l.open(askers)
	defer func() { _, _ = client.Close(), keys.Close() }() // what is in flight fails
	channels := []string{l.channel(""), l.channel(c.Name)}
	subscription := client.Subscribe(ctx, channels...)
	// A read that waits does not see ctx end; it sees its connection end.
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() {
		<-ctx.Done()
		_ = subscription.Close() // nothing is to be told to the server
	})
	beside.Go(func() { ping(ctx, subscription, c.Lease/3) })
	defer beside.Wait()
	defer cancel()
	for range channels {
		if err := confirmed(ctx, subscription, c.Timeout); err != nil {
			return err
		}
	}
	l.client.Store(client)
	defer l.client.Store(nil)
	l.keys.Store(keys)
	defer l.keys.Store(nil)
	up(l.store(client))
	for {
		got, err := subscription.ReceiveTimeout(ctx, max(c.Lease, minSilence))
		if err != nil {
			return err
		}
		if m, ok := got.(*redis.Message); ok {
			l.take([]byte(m.Payload))
		}
	}
}

// confirmed waits for the next channel to be open.
func confirmed(ctx context.Context, s *redis.PubSub, most time.Duration) error {
	for {
		got, err := s.ReceiveTimeout(ctx, most)
		if err != nil {
			return fmt.Errorf("subscribing: %w", err)
		}
		if _, ok := got.(*redis.Subscription); ok {
			return nil
		}
	}
}

// ping makes the server say something until ctx ends. One that does not is found by the reader.
func ping(ctx context.Context, s *redis.PubSub, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			_ = s.Ping(ctx) // a connection that has failed fails its reader too
		case <-ctx.Done():
			return
		}
	}
}

// take hands on a message of another link. One without room for an incarnation is no gateway's; the receiver judges it
// as it judges the rest.
func (l *Link) take(message []byte) {
	by := l.keeper.Incarnation()
	if len(message) < len(by) {
		l.keeper.Push(message)
		return
	}
	if !bytes.Equal(message[:len(by)], by[:]) {
		l.keeper.Push(message[len(by):])
	}
}
