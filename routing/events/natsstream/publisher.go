package natsstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/routing/events"
)

// Publisher appends batches to a stream.
type Publisher struct {
	config Config
	conn   *nats.Conn
	js     jetstream.JetStream
	ended  chan struct{} // closed when the connection is

	refused *refusal
}

// NewPublisher returns a Publisher, which connects by itself. It fails with ErrConfig.
func NewPublisher(c Config) (*Publisher, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	ended, refused := make(chan struct{}), new(refusal)
	conn, err := c.dial(refused, nats.ClosedHandler(func(*nats.Conn) { close(ended) }))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(answerTimeout))
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return &Publisher{config: c, conn: conn, js: js, ended: ended, refused: refused}, nil
}

// Publish implements events.Publisher: it returns when the stream has stored b, and creates the stream where there is
// none. A batch whose Publish failed may have been stored all the same, and is safe to publish again.
func (p *Publisher) Publish(ctx context.Context, b events.Batch) error {
	b.Sift()
	message, err := events.Marshal(b)
	if err != nil {
		return err
	}
	subject := p.config.subject(b.Replica)
	err = p.send(ctx, subject, message)
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) {
		if _, err = p.config.find(ctx, p.js); err == nil {
			err = p.send(ctx, subject, message)
		}
	}
	if errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("natsstream: %w", events.ErrClosed)
	}
	if err != nil {
		return fmt.Errorf("natsstream: publishing to %s: %w", subject, p.refused.because(err, p.conn))
	}
	return nil
}

// send publishes once. A server without listeners answers at once, so asking it again here is of no use.
func (p *Publisher) send(ctx context.Context, subject string, message []byte) error {
	m := nats.NewMsg(subject)
	m.Data = message
	if seal := p.config.Key.Seal(message); seal != "" {
		m.Header.Set(headerSeal, seal)
	}
	_, err := p.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
	return err
}

// Close implements events.Publisher: it returns when the connection has ended. Closing again does nothing.
func (p *Publisher) Close() error {
	p.conn.Close()
	<-p.ended
	return nil
}
