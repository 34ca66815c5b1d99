package natsstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/internal/natsclient"
	"octet/routing/events"
)

// Standing is what a server says of the stream.
type Standing struct {
	Exists bool
	Config jetstream.StreamConfig
	Length uint64 // messages
	Ahead  time.Duration
}

// connect returns a connection that is there, or an error at once.
func (c Config) connect() (*nats.Conn, error) {
	conn, err := natsclient.Connect(natsclient.Config{URL: c.URL, Creds: c.Creds, CA: c.CA, MaxMessage: c.MaxMessage,
		Timeout: dialTimeout}, nats.NoReconnect())
	if err != nil {
		return nil, fmt.Errorf("natsstream: %w", err)
	}
	return conn, nil
}

// Look asks the server, and makes no stream. An error says that it cannot be reached, or has no JetStream.
func Look(ctx context.Context, c Config) (s Standing, err error) {
	if c, err = c.filled(); err != nil {
		return s, err
	}
	conn, err := c.connect()
	if err != nil {
		return s, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(answerTimeout))
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	stream, err := js.Stream(ctx, c.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("natsstream: stream %s: %w", c.Stream, err)
	}
	sent := time.Now()
	about, err := stream.Info(ctx)
	if err != nil {
		return s, fmt.Errorf("natsstream: looking at %s: %w", c.Stream, err)
	}
	s = Standing{Exists: true, Config: about.Config, Length: about.State.Msgs}
	if !about.TimeStamp.IsZero() {
		s.Ahead = about.TimeStamp.Sub(sent.Add(time.Since(sent) / 2))
	}
	return s, nil
}

// Overhear calls opened once it hears the subject, then each for every batch that is published from then on, until ctx
// ends or the connection does.
func Overhear(ctx context.Context, c Config, opened func(), each func(events.Batch)) error {
	c, err := c.filled()
	if err != nil {
		return err
	}
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	heard, err := conn.SubscribeSync(c.Subject)
	if err == nil {
		err = conn.FlushTimeout(answerTimeout)
	}
	if err != nil {
		return fmt.Errorf("natsstream: subscribing to %s: %w", c.Subject, err)
	}
	opened()
	for {
		m, err := heard.NextMsgWithContext(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("natsstream: hearing %s: %w", c.Subject, err)
		}
		if b, err := events.Unmarshal(m.Data); err == nil &&
			c.Secret.Opens(b.Replica, m.Data, m.Header.Get(headerSeal)) {
			each(b)
		}
	}
}
