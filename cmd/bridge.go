package cmd

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"octet/app/fabric"
	"octet/config"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
)

// bridgeFlags are the flags of `octet bridge`.
type bridgeFlags struct {
	from  zmqstream.Config
	redis config.Redis
	nats  config.NATS
	grpc  grpcstream.PublisherConfig
	voice voiceFlags
}

// voiceFlags name the publisher.
type voiceFlags struct{ name, key string }

func (v *voiceFlags) define(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&v.name, "publisher", "", "the publisher's name in entries of a Redis stream (default: this host)")
	flags.StringVar(&v.key, "events-key", os.Getenv("OCTET_EVENTS_KEY"),
		"the replica's key, to seal what goes to Redis and NATS (default $OCTET_EVENTS_KEY)")
}

func (v voiceFlags) redis(c redisstream.Config) (events.Publisher, error) {
	c.Publisher, c.Key, c.Secret = v.name, events.SealKey(v.key), ""
	return redisstream.NewPublisher(c)
}

func (v voiceFlags) nats(c natsstream.Config) (events.Publisher, error) {
	c.Key, c.Secret = events.SealKey(v.key), ""
	return natsstream.NewPublisher(c)
}

func bridgeCommand() *cobra.Command {
	var f bridgeFlags
	c := &cobra.Command{
		Use:   "bridge --replica NAME --zmq ENDPOINT {--redis ADDR | --nats URL | --grpc ADDR}",
		Short: "Beside an engine: reads its ZMQ cache events and writes them to what gateways read",
		Args:  none,
		RunE:  func(cmd *cobra.Command, _ []string) error { return bridge(cmd.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.from.Replica, "replica", "", "the replica's name in the gateways' configuration")
	flags.StringVar(&f.from.Endpoint, "zmq", "", "the engine's PUB socket; tcp://*:PORT waits for an engine that dials")
	flags.StringVar(&f.from.Replay, "zmq-replay", "",
		"the engine's replay socket; without it an interruption cannot be repaired")
	flags.StringVar(&f.from.Topic, "zmq-topic", "", "what its messages' topics begin with")
	flags.StringVar(&f.redis.Addr, "redis", "", "write to the Redis server at this address")
	flags.StringVar(&f.redis.Stream, "stream", redisstream.DefaultStream, "the Redis stream")
	flags.StringVar(&f.redis.Username, "redis-user", "", "its ACL user")
	flags.StringVar(&f.redis.Password, "redis-password", os.Getenv("OCTET_REDIS_PASSWORD"),
		"and the password (default $OCTET_REDIS_PASSWORD)")
	flags.StringVar(&f.redis.CA, "redis-ca", "", "speak TLS, and trust the roots of this PEM file")
	flags.Int64Var(&f.redis.MaxLen, "maxlen", redisstream.DefaultMaxLen, "entries that the stream keeps, about")
	flags.StringVar(&f.nats.URL, "nats", "", "write to the NATS server at this URL")
	flags.StringVar(&f.nats.Subject, "subject", natsstream.DefaultSubject, "what the JetStream stream covers")
	flags.StringVar(&f.nats.Creds, "nats-creds", "", "path of a credentials file")
	flags.StringVar(&f.nats.CA, "nats-ca", "", "trust the roots of this PEM file")
	f.voice.define(c)
	flags.StringVar(&f.grpc.Addr, "grpc", "", "write to the gateway's gRPC listener at this address")
	flags.StringVar(&f.grpc.Token, "grpc-token", os.Getenv("OCTET_EVENTS_TOKEN"),
		"the token it wants (default $OCTET_EVENTS_TOKEN)")
	return c
}

// bridge carries one engine's events until ctx ends.
func bridge(ctx context.Context, f bridgeFlags) error {
	to, err := f.publishers()
	if err != nil {
		return usageError{err}
	}
	defer to.Close()
	if len(to) == 0 {
		return usageError{errors.New("one of --redis, --nats and --grpc is required")}
	}
	c, err := zmqstream.NewConsumer(f.from)
	if err != nil {
		return usageError{err}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	log.Info("bridging", "replica", f.from.Replica, "from", f.from.Endpoint)
	if err := c.Consume(ctx, span{ctx, to, log}); ctx.Err() == nil {
		return usageError{err}
	}
	return nil
}

func (f bridgeFlags) publishers() (all fanOut, err error) {
	add := func(p events.Publisher, err error) error {
		if err == nil {
			all = append(all, p)
		}
		return err
	}
	if f.redis.Addr != "" {
		c, err := fabric.Redis(&f.redis)
		if err != nil {
			return nil, err
		}
		if err := add(f.voice.redis(c)); err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	if f.nats.URL != "" {
		if err := add(f.voice.nats(fabric.NATS(&f.nats))); err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	if f.grpc.Addr != "" {
		if err := add(grpcstream.NewPublisher(f.grpc)); err != nil {
			return nil, errors.Join(err, all.Close())
		}
	}
	return all, nil
}

// span writes what an engine publishes. It holds nothing back: while the other side is away the engine is not read on,
// and what its socket then drops is read again from its replay.
type span struct {
	ctx context.Context // of the bridge, whose only work this is
	to  events.Publisher
	log *slog.Logger
}

// Deliver implements events.Sink. It returns when b was taken, or everything ends.
func (s span) Deliver(b events.Batch) {
	for wait := events.NewBackoff(); s.ctx.Err() == nil; wait.Pause(s.ctx) {
		err := s.to.Publish(s.ctx, b)
		if err == nil || s.ctx.Err() != nil {
			return
		}
		s.log.Warn("a batch was not taken", "epoch", b.Epoch, "seq", b.Seq, "error", err)
		if errors.Is(err, events.ErrBatch) {
			return // it never will be; its gap shows
		}
	}
}
