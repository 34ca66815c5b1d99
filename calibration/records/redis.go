package records

import (
	"context"
	"crypto/tls"
	"iter"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisConfig is the stream of a server.
type RedisConfig struct {
	Addr     string // host:port
	Username string
	Password string
	TLS      *tls.Config // nil speaks plain TCP
	Stream   string      // its key
	MaxLen   int64       // entries that it keeps, about
}

// field is the one of an entry.
const field = "record"

// Redis appends records to a Redis stream.
type Redis struct {
	cfg    RedisConfig
	client *redis.Client
}

// NewRedis connects when it is first used.
func NewRedis(cfg RedisConfig) *Redis {
	return &Redis{cfg, redis.NewClient(&redis.Options{
		Addr: cfg.Addr, Username: cfg.Username, Password: cfg.Password, TLSConfig: cfg.TLS, PoolSize: 1, MaxRetries: -1, DialerRetries: 1,
		DialTimeout: writeTimeout, ReadTimeout: writeTimeout, WriteTimeout: writeTimeout, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}
}

// Name implements Sink.
func (r *Redis) Name() string { return "redis" }

// Write implements Sink.
func (r *Redis) Write(ctx context.Context, line []byte) error {
	return r.client.XAdd(ctx, &redis.XAddArgs{Stream: r.cfg.Stream, MaxLen: r.cfg.MaxLen, Approx: true, Values: []any{field, line}}).Err()
}

// page is how many entries are read at once.
const page = 512

// Lines reads the whole stream from its start. It ends with the last entry that is there, or with an error.
func (r *Redis) Lines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for from := "-"; ; {
			entries, err := r.client.XRangeN(ctx, r.cfg.Stream, from, "+", page).Result()
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
			if len(entries) < page {
				return
			}
		}
	}
}

// Close implements Sink.
func (r *Redis) Close() error { return r.client.Close() }
