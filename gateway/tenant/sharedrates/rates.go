// Package sharedrates counts what all gateways of a cell admit, in one Redis: a GCRA bucket for each name.
package sharedrates

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"octet/internal/redisclient"
)

// ErrAway is the error of Take and Spend while Redis is not available. Callers fall back to their own count.
var ErrAway = errors.New("sharedrates: redis cannot be asked")

// Config says where. A zero field takes the default named beside it.
type Config struct {
	Addr     string
	Username string
	Password string
	DB       int
	Prefix   string           // octet: before each bucket's name
	MaxReply int64            // 1 MiB: bytes of one answer
	Timeout  time.Duration    // 20 ms for one question
	Retry    time.Duration    // 1 s without questions after a failure
	Changed  func(away error) // called when Redis goes away and, with nil, when it is back; may be nil
}

// Rates are the buckets. Safe for concurrent use.
type Rates struct {
	cfg     Config
	client  *redis.Client
	limiter *redis_rate.Limiter
	again   atomic.Int64 // unix nanoseconds before which Redis is not asked; zero while it answers
}

// New connects with the first question.
func New(c Config) *Rates {
	if c.Timeout <= 0 {
		c.Timeout = 20 * time.Millisecond
	}
	if c.Retry <= 0 {
		c.Retry = time.Second
	}
	if c.MaxReply <= 0 {
		c.MaxReply = 1 << 20
	}
	if c.Prefix == "" {
		c.Prefix = "octet:"
	}
	client := redisclient.New(redis.Options{
		Addr: c.Addr, Username: c.Username, Password: c.Password, DB: c.DB,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout,
	}, c.MaxReply)
	return &Rates{cfg: c, client: client, limiter: redis_rate.NewLimiter(client)}
}

// Close ends the connections.
func (r *Rates) Close() error { return r.client.Close() }

// Away reports whether Redis could not be asked lately.
func (r *Rates) Away() bool { return r.again.Load() != 0 }

// Take takes n from a bucket that fills at a rate a second up to burst. A wait above zero means that nothing was taken,
// and when it could be.
func (r *Rates) Take(bucket string, perSecond float64, burst, n int) (wait time.Duration, err error) {
	l := limit(perSecond, burst)
	err = r.ask(func(ctx context.Context) error {
		said, err := r.limiter.AllowN(ctx, r.key(bucket, l), l, n)
		if err == nil && said.Allowed < n {
			wait = max(said.RetryAfter, time.Millisecond)
		}
		return err
	})
	return wait, err
}

// spend moves on the time at which a bucket of redis_rate is full again, by so many seconds; a bucket that is full has
// no key. Seconds count from 2017 there.
var spend = redis.NewScript(`
local time = redis.call('TIME')
local now = (time[1] - 1483228800) + time[2] / 1000000
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + tonumber(ARGV[1])
if full > now then
	redis.call('SET', KEYS[1], full, 'EX', math.ceil(full - now))
else
	redis.call('DEL', KEYS[1])
end
return 0`)

// Spend takes n that have been used already from a bucket: what is left of it may go below zero, and is waited for
// then. A negative n gives back; a bucket never has more than its burst.
func (r *Rates) Spend(bucket string, perSecond float64, burst, n int) error {
	l := limit(perSecond, burst)
	seconds := float64(n) * l.Period.Seconds() / float64(l.Rate)
	return r.ask(func(ctx context.Context) error {
		return spend.Run(ctx, r.client, []string{"rate:" + r.key(bucket, l)}, seconds).Err()
	})
}

// key names a bucket of a rate. What is kept of it is the time at which it is full again, which says how much it holds
// at its own rate alone: under another one an exhausted bucket would have to wait for as long as before.
func (r *Rates) key(bucket string, l redis_rate.Limit) string {
	return fmt.Sprintf("%s%s:%d/%d", r.cfg.Prefix, bucket, l.Rate, l.Burst)
}

// limit writes a rate as whole numbers: so many in a thousand seconds.
func limit(perSecond float64, burst int) redis_rate.Limit {
	const span = 1000
	return redis_rate.Limit{Rate: max(int(math.Round(perSecond*span)), 1), Period: span * time.Second, Burst: burst}
}

// ask puts one question, unless the last one failed a moment ago.
func (r *Rates) ask(question func(context.Context) error) error {
	again := r.again.Load()
	if again != 0 && (time.Now().UnixNano() < again ||
		!r.again.CompareAndSwap(again, time.Now().Add(r.cfg.Retry).UnixNano())) {
		return ErrAway
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Timeout)
	defer cancel()
	if err := guarded(ctx, question); err != nil {
		r.changed(time.Now().Add(r.cfg.Retry).UnixNano(), err)
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	r.changed(0, nil)
	return nil
}

func (r *Rates) changed(again int64, away error) {
	if was := r.again.Swap(again); (was == 0) != (again == 0) && r.cfg.Changed != nil {
		r.cfg.Changed(away)
	}
}

// guarded calls question and turns a panic, which a malformed reply may cause, into an error.
func guarded(ctx context.Context, question func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return question(ctx)
}
