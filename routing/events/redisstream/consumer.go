package redisstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"octet/internal/redisclient"
	"octet/routing/events"
)

const (
	// that a read waits for entries; how often a quiet stream is checked for a new beginning
	readBlock = 500 * time.Millisecond
	readCount = 256 // entries a read: bounds what one reply holds
	start     = "0" // the cursor before the first entry
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

// Consume implements events.Consumer: it returns ctx.Err(), when ctx ends. Each call reads with a cursor and a
// connection of its own.
func (c *Consumer) Consume(ctx context.Context, sink events.Sink) error {
	return events.Persist(ctx, &c.meter, func() error { return c.consume(ctx, sink) })
}

func (c *Consumer) consume(ctx context.Context, sink events.Sink) error {
	lane := events.OpenSession(sink)
	defer lane.Close()
	defer c.meter.Down()
	client := c.config.Client(1)
	// A blocked read does not see ctx end; it sees its connection end.
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { _ = client.Close(); close(closed) })
	defer func() {
		if stop() {
			_ = client.Close() // nothing is in flight any more
			return
		}
		<-closed
	}()
	r := reader{Consumer: c, client: client, lane: lane, cursor: start, count: readCount}
	for wait := events.NewBackoff(); ctx.Err() == nil; {
		if err := r.step(ctx); err != nil {
			c.meter.Failed(err)
			c.meter.Down()
			r.check = true
			wait.Pause(ctx)
			continue
		}
		wait.Reset()
	}
	return ctx.Err()
}

// reader is one Consume. Owned by its goroutine.
type reader struct {
	*Consumer
	client *redis.Client
	lane   events.Carrier
	cursor string // id of the last entry that was read
	count  int64  // entries that are asked for: fewer after an answer that was too long, until one comes
	check  bool   // the server may be another one now: look where its stream ends before reading on
}

// step reads what comes after the cursor, or waits for it a moment.
func (r *reader) step(ctx context.Context) error {
	if r.check {
		if err := r.rewind(ctx); err != nil {
			return err
		}
		r.check = false
	}
	streams, err := r.read(ctx)
	if errors.Is(err, redis.Nil) {
		r.meter.Up()
		r.check = true // a quiet stream may be a deleted one
		return nil
	}
	if errors.Is(err, redisclient.ErrReply) && r.shorten(ctx) {
		r.meter.Failed(err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("redisstream: reading %s: %w", r.config.Stream, err)
	}
	r.meter.Up()
	r.count = min(2*r.count, readCount)
	for _, s := range streams {
		for _, entry := range s.Messages {
			r.take(entry)
			r.cursor = entry.ID
		}
	}
	return nil
}

// read asks for what comes after the cursor. A server that takes longer than it may is as good as gone.
func (r *reader) read(ctx context.Context) ([]redis.XStream, error) {
	ctx, cancel := context.WithTimeout(ctx, readBlock+replyTimeout)
	defer cancel()
	return r.client.XRead(ctx, &redis.XReadArgs{
		Streams: []string{r.config.Stream, r.cursor}, Count: r.count, Block: readBlock,
	}).Result()
}

// shorten asks for less after an answer beyond its bounds. A single entry that is too long is no batch: it is passed
// over by its id, where the server tells it. It reports whether another answer is to be expected now.
func (r *reader) shorten(ctx context.Context) bool {
	if r.count > 1 {
		r.count /= 2
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	after := "(" + r.cursor
	if r.cursor == start {
		after = "-"
	}
	id, err := r.client.Eval(ctx, nextID, []string{r.config.Stream}, after).Text()
	if err != nil || !before(r.cursor, id) {
		return false
	}
	r.cursor = id
	r.meter.Skipped()
	return true
}

// nextID is a script that returns the id of the entry after one, without what it holds.
const nextID = `local e = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', 1); return e[1] and e[1][1]`

// rewind sets the cursor back to the start when the stream ends before it, or is not there: then it is not the one that
// the cursor was read from.
func (r *reader) rewind(ctx context.Context) error {
	if r.cursor == start {
		return nil
	}
	end := start
	about, err := r.client.XInfoStream(ctx, r.config.Stream).Result()
	switch {
	case err == nil:
		end = about.LastGeneratedID
	case !isMissing(err):
		return fmt.Errorf("redisstream: looking at %s: %w", r.config.Stream, err)
	}
	if before(end, r.cursor) {
		r.cursor = start
		r.meter.Rewound()
	}
	return nil
}

// take delivers one entry, or skips it: when it holds no batch, or has not the seal that is wanted.
func (r *reader) take(entry redis.XMessage) {
	b, err := decode(entry.Values, r.config.Secret)
	switch {
	case errors.Is(err, errSeal):
		r.meter.Denied()
		return
	case err != nil:
		r.meter.Skipped()
		return
	}
	b.By.At = added(entry.ID)
	r.meter.Took(b.By.At, time.Now())
	r.lane.Deliver(b)
}

// errSeal is an entry without the seal of the replica that it tells of.
var errSeal = errors.New("redisstream: an entry without its seal")

func decode(fields map[string]any, secret events.Secret) (b events.Batch, err error) {
	message, binary := fields[fieldBatch].(string)
	if binary {
		b, err = events.Unmarshal([]byte(message))
	} else if text, ok := fields[fieldJSON].(string); ok {
		message = text
		b, err = events.UnmarshalJSON([]byte(message))
	} else {
		err = fmt.Errorf("%w: an entry has neither %q nor %q", events.ErrBatch, fieldBatch, fieldJSON)
	}
	if err != nil {
		return b, err
	}
	if b.By.Name, err = speaker(fields); secret == "" {
		return b, err
	}
	seal, _ := fields[fieldSeal].(string)
	if !secret.Opens(b.Replica, []byte(message), seal) {
		return b, errSeal
	}
	b.By.Name = events.Sealed
	return b, nil
}

func speaker(fields map[string]any) (string, error) {
	name, _ := fields[fieldBy].(string)
	if len(name) > events.MaxNameBytes {
		return "", fmt.Errorf("%w: a publisher's name of %d bytes", events.ErrBatch, len(name))
	}
	return name, nil
}

func isMissing(err error) bool { return redis.HasErrorPrefix(err, "no such key") }
