package natsstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/routing/events"
)

const (
	heartbeat = 500 * time.Millisecond  // of a server that has nothing to send; two missing ones end a consumer
	quiet     = 1500 * time.Millisecond // without a message, after which the stream is looked at; over two heartbeats
	expiry    = 10 * time.Second        // of a request for messages
	ahead     = 256                     // messages asked for at a time: bounds what waits here
)

// Consumer reads a stream from its start and follows it.
type Consumer struct {
	config Config
	meter  events.Meter
}

// NewConsumer returns a Consumer, without connecting yet. It fails with ErrConfig.
func NewConsumer(c Config) (*Consumer, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	return &Consumer{config: c}, nil
}

// Stats returns what Consume has done so far.
func (c *Consumer) Stats() events.ConsumerStats { return c.meter.Stats() }

// Consume implements events.Consumer: it returns ctx.Err() when ctx ends, or ErrConfig. Each call has a connection of
// its own.
func (c *Consumer) Consume(ctx context.Context, sink events.Sink) error {
	return events.Persist(ctx, &c.meter, func() error { return c.consume(ctx, sink) })
}

func (c *Consumer) consume(ctx context.Context, sink events.Sink) error {
	ended, broken, refused := make(chan struct{}), new(breaker), new(refusal)
	conn, err := c.config.dial(refused,
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.meter.Down(); broken.lost(err) }),
		nats.ClosedHandler(func(*nats.Conn) { close(ended) }),
	)
	if err != nil {
		return err
	}
	// Closing the connection wakes whatever waits for an answer.
	stop := context.AfterFunc(ctx, conn.Close)
	defer func() {
		stop()
		conn.Close()
		<-ended
		c.meter.Down()
	}()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(answerTimeout))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	lane := events.OpenSession(sink)
	defer lane.Close()
	r := reader{Consumer: c, js: js, lane: lane, broken: broken}
	for wait := events.NewBackoff(); ctx.Err() == nil; {
		took := r.last
		if err := r.follow(ctx); err != nil && ctx.Err() == nil {
			c.meter.Failed(refused.because(err, conn))
			c.meter.Down()
		}
		if r.last != took {
			wait.Reset()
		}
		wait.Pause(ctx)
	}
	return ctx.Err()
}

// reader is one Consume. Owned by its goroutine.
type reader struct {
	*Consumer
	js     jetstream.JetStream
	lane   events.Carrier
	stream jetstream.Stream
	born   time.Time // of the stream that last counts for: its identity
	last   uint64    // the stream's number of the message that was read last
	source string    // the server's name of the consumer that it came from
	broken *breaker
}

// errAnother ends a consumer whose stream turned out to be another one.
var errAnother = errors.New("natsstream: another stream of that name")

// follow reads from a new ordered consumer until something fails.
func (r *reader) follow(ctx context.Context) error {
	var err error
	if r.stream, err = r.config.find(ctx, r.js); err != nil {
		return err
	}
	if err := r.identify(ctx); err != nil && !errors.Is(err, errAnother) {
		return err
	}
	if r.broken.due.Load() {
		if err := r.pass(ctx); err != nil {
			return err
		}
	}
	source, err := r.stream.OrderedConsumer(ctx, r.from())
	if err != nil {
		return fmt.Errorf("natsstream: consuming %s: %w", r.config.Stream, err)
	}
	messages, err := source.Messages(jetstream.PullMaxMessages(ahead), jetstream.PullExpiry(expiry),
		jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return fmt.Errorf("natsstream: consuming %s: %w", r.config.Stream, err)
	}
	defer messages.Stop()
	r.broken.open.Store(&messages)
	r.source = ""
	r.meter.Up()
	for {
		if err := r.step(ctx, messages); err != nil {
			return err
		}
	}
}

// from returns where to read on: after the last message, or from the start.
func (r *reader) from() jetstream.OrderedConsumerConfig {
	c := jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{r.config.Subject}, MaxResetAttempts: 1, DeliverPolicy: jetstream.DeliverAllPolicy,
	}
	if r.last > 0 {
		c.DeliverPolicy, c.OptStartSeq = jetstream.DeliverByStartSequencePolicy, r.last+1
	}
	return c
}

// step reads one message, or returns after a while without one.
func (r *reader) step(ctx context.Context, messages jetstream.MessagesContext) error {
	m, err := messages.Next(jetstream.NextMaxWait(quiet))
	if errors.Is(err, nats.ErrTimeout) {
		return r.idle(ctx)
	}
	if err != nil {
		return fmt.Errorf("natsstream: reading %s: %w", r.config.Stream, err)
	}
	about, err := m.Metadata()
	if err != nil {
		r.meter.Skipped()
		return nil
	}
	if about.Consumer != r.source { // the consumer was made anew, maybe on another stream
		if err := r.identify(ctx); err != nil {
			return err
		}
		r.source = about.Consumer
	}
	r.meter.Up()
	r.last = about.Sequence.Stream
	r.take(m, about.Timestamp)
	return nil
}

// idle looks at a stream that has had no message for a while: it may be another one. Where it is not, the stream can be
// read: the library may have replaced a connection that was lost, and says nothing of that.
func (r *reader) idle(ctx context.Context) error {
	err := r.identify(ctx)
	if err == nil {
		r.meter.Up()
	}
	return err
}

// identify makes sure that last counts for the stream that is there now. When it is another one it sets last back and
// returns errAnother: the consumer that is open reads on at a wrong place.
func (r *reader) identify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	about, err := r.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("natsstream: looking at %s: %w", r.config.Stream, err)
	}
	if about.Created.Equal(r.born) && about.State.LastSeq >= r.last {
		return nil
	}
	again := r.last > 0
	r.born, r.last = about.Created, 0
	if again {
		r.meter.Rewound()
		return errAnother
	}
	return nil
}

// take delivers a message. A publisher on one replica's subject, or with its key, may not speak for another replica.
func (r *reader) take(m jetstream.Msg, stored time.Time) {
	b, err := events.Unmarshal(m.Data())
	if err != nil {
		r.meter.Skipped()
		return
	}
	if m.Subject() != r.config.subject(b.Replica) ||
		!r.config.Secret.Opens(b.Replica, m.Data(), m.Headers().Get(headerSeal)) {
		r.meter.Denied()
		return
	}
	b.By.At = stored
	r.meter.Took(stored, time.Now())
	r.lane.Deliver(b)
}
