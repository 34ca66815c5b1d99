package records

import (
	"context"
	"errors"
	"iter"

	"github.com/redis/go-redis/v9"

	"octet/internal/redisclient"
)

// field is the one of an entry.
const field = "record"

// Redis appends records to a Redis stream.
type Redis struct {
	client *redis.Client
	stream string // its key
	length int64  // entries that it keeps, about
}

// NewRedis writes and reads by client, which it closes in the end. One connection is enough for it.
func NewRedis(client *redis.Client, stream string, length int64) *Redis {
	return &Redis{client, stream, length}
}

// Name implements Sink.
func (r *Redis) Name() string { return "redis" }

// Write implements Sink.
func (r *Redis) Write(ctx context.Context, line []byte) error {
	return r.client.XAdd(ctx,
		&redis.XAddArgs{Stream: r.stream, MaxLen: r.length, Approx: true, Values: []any{field, line}}).Err()
}

// page is how many entries are read at once.
const page = 512

// Lines reads the whole stream from its start. It ends with the last entry that is there, or with an error.
func (r *Redis) Lines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		at := int64(page)
		for from := "-"; ; {
			entries, err := r.client.XRangeN(ctx, r.stream, from, "+", at).Result()
			if errors.Is(err, redisclient.ErrReply) && at > 1 {
				at /= 2 // too many long ones for one answer
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range entries {
				line, _ := e.Values[field].(string) // without the field it is no record, as its reader will say
				if !yield([]byte(line), nil) {
					return
				}
				from = "(" + e.ID
			}
			if int64(len(entries)) < at {
				return
			}
		}
	}
}

// Close implements Sink.
func (r *Redis) Close() error { return r.client.Close() }
