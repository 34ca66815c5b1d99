package redisstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"octet/routing/events"
)

// Standing is what a server says of itself and of the stream.
type Standing struct {
	Exists    bool
	Kind      string // of the key: "stream", or what else is there; "" if nothing is
	Length    int64  // entries
	Policy    string // what is evicted when memory is full; "" if it does not say
	MaxMemory int64  // bytes; 0 is no bound
	Used      int64  // bytes of it
	Ahead     time.Duration
}

// Look asks the server. What it does not let be asked is left empty; an error says that it cannot be reached.
func Look(ctx context.Context, c Config) (s Standing, err error) {
	if c, err = c.filled(); err != nil {
		return s, err
	}
	client := c.Client(1)
	defer func() { _ = client.Close() }() // nothing is in flight
	if err := client.Ping(ctx).Err(); err != nil {
		return s, fmt.Errorf("redisstream: %w", err)
	}
	sent := time.Now()
	if there, err := client.Time(ctx).Result(); err == nil {
		s.Ahead = there.Sub(sent.Add(time.Since(sent) / 2))
	}
	if kind, err := client.Type(ctx, c.Stream).Result(); err == nil && kind != "none" {
		s.Kind, s.Exists = kind, kind == "stream"
	}
	if s.Exists {
		s.Length, _ = client.XLen(ctx, c.Stream).Result() // 0 is not known
	}
	if about, err := client.Info(ctx, "memory").Result(); err == nil {
		s.memory(about)
	}
	return s, nil
}

// memory reads the section of INFO.
func (s *Standing) memory(about string) {
	for line := range strings.Lines(about) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "maxmemory_policy":
			s.Policy = value
		case "maxmemory":
			s.MaxMemory, _ = strconv.ParseInt(value, 10, 64) // 0 where it is no number
		case "used_memory":
			s.Used, _ = strconv.ParseInt(value, 10, 64) // likewise
		}
	}
}

// Overhear calls opened once the stream can be read, then each for every batch that is added from then on, until ctx
// ends or the connection does.
func Overhear(ctx context.Context, c Config, opened func(), each func(events.Batch)) error {
	c, err := c.filled()
	if err != nil {
		return err
	}
	client := c.Client(1)
	defer func() { _ = client.Close() }() // closed before where ctx ended
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	cursor := start
	if about, err := client.XInfoStream(ctx, c.Stream).Result(); err == nil {
		cursor = about.LastGeneratedID
	} else if !isMissing(err) {
		return fmt.Errorf("redisstream: looking at %s: %w", c.Stream, err)
	}
	opened()
	for {
		streams, err := client.XRead(ctx, &redis.XReadArgs{Streams: []string{c.Stream, cursor}, Count: readCount,
			Block: readBlock}).Result()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, redis.Nil) {
			return fmt.Errorf("redisstream: reading %s: %w", c.Stream, err)
		}
		for _, s := range streams {
			for _, entry := range s.Messages {
				cursor = entry.ID
				if b, err := decode(entry.Values, c.Secret); err == nil {
					each(b)
				}
			}
		}
	}
}
