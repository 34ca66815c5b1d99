package natslink

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"octet/internal/natsclient"
	"octet/routing/peers/lease"
)

// dial returns a connection that ends when it is lost: lease.Keeper makes the next one.
func (l *Link) dial(options ...nats.Option) (*nats.Conn, error) {
	c := l.keeper.Config()
	options = append([]nats.Option{nats.NoReconnect(), nats.NoEcho(), nats.FlusherTimeout(c.Timeout),
		nats.PingInterval(c.Lease), nats.MaxPingsOutstanding(maxPings), nats.Name("octet " + c.Name),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the library's own prints
	}, options...)
	return natsclient.Connect(natsclient.Config{URL: l.config.URL, Creds: l.config.Creds, CA: l.config.CA,
		MaxMessage: max(c.MaxMessage+slack, minFrame), Timeout: c.Timeout}, options...)
}

// listen implements lease.Listen.
func (l *Link) listen(ctx context.Context, up func(lease.Store)) error {
	ended, failed := make(chan struct{}), make(chan error, 1)
	conn, err := l.dial(nats.ClosedHandler(func(*nats.Conn) { close(ended) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if !errors.Is(err, nats.ErrSlowConsumer) { // one that may not subscribe, for example
				select {
				case failed <- err:
				default: // the first one ends the connection
				}
			}
		}))
	if err != nil {
		return err
	}
	defer func() {
		l.conn.Store(nil)
		conn.Close()
		<-ended
	}()
	// One channel, so that what a gateway sends to one and to all stays in order.
	messages := make(chan *nats.Msg, incoming)
	for _, subject := range []string{l.subject(""), l.subject(l.keeper.Config().Name)} {
		if _, err := conn.ChanSubscribe(subject, messages); err != nil {
			return err
		}
	}
	s, err := l.store(conn)
	if err != nil {
		return err
	}
	defer l.keys.Store(nil)
	l.keys.Store(&keys{js: s.js, bucket: l.config.Bucket + "-keys", life: max(l.config.Keep, minLife)})
	if err := conn.FlushTimeout(l.keeper.Config().Timeout); err != nil {
		return err
	}
	l.conn.Store(conn)
	up(s)
	for {
		select {
		case m := <-messages:
			l.keeper.Push(m.Data)
		case err := <-failed:
			return err
		case <-ended:
			return fmt.Errorf("the connection has ended: %w", reason(conn))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reason returns why a connection was closed.
func reason(conn *nats.Conn) error {
	if err := conn.LastError(); err != nil {
		return err
	}
	return nats.ErrConnectionClosed
}
