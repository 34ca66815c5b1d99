package redisstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"octet/routing/events"
)

const publishConns = 4 // an engine publishes one batch at a time; a few replicas may share a publisher

// Publisher appends batches to a stream.
type Publisher struct {
	config Config
	client *redis.Client
}

// NewPublisher returns a Publisher, without connecting yet. It fails with ErrConfig.
func NewPublisher(c Config) (*Publisher, error) {
	c, err := c.filled()
	if err != nil {
		return nil, err
	}
	return &Publisher{config: c, client: c.Client(publishConns)}, nil
}

// Publish implements events.Publisher. It tries once, until ctx ends or the server is silent for two seconds; a batch
// whose Publish failed may have arrived all the same, and is safe to publish again.
func (p *Publisher) Publish(ctx context.Context, b events.Batch) error {
	b.Sift()
	message, err := events.Marshal(b)
	if err != nil {
		return err
	}
	err = p.client.XAdd(ctx, &redis.XAddArgs{
		Stream: p.config.Stream, MaxLen: p.config.MaxLen, Approx: true,
		Values: p.fields(message),
	}).Err()
	if errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("redisstream: %w", events.ErrClosed)
	}
	if err != nil {
		return fmt.Errorf("redisstream: adding to %s: %w", p.config.Stream, err)
	}
	return nil
}

func (p *Publisher) fields(message []byte) []any {
	fields := []any{fieldBatch, message, fieldBy, p.config.Publisher}
	if seal := p.config.Key.Seal(message); seal != "" {
		fields = append(fields, fieldSeal, seal)
	}
	return fields
}

// Close implements events.Publisher. Closing again does nothing.
func (p *Publisher) Close() error {
	if err := p.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("redisstream: %w", err)
	}
	return nil
}
