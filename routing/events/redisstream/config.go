package redisstream

import (
	"crypto/tls"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"octet/internal/redisclient"
	"octet/routing/events"
)

// ErrConfig is wrapped by what NewPublisher and NewConsumer say about their Config.
var ErrConfig = errors.New("redisstream: bad config")

// Defaults of Config, and the names of an entry's field.
const (
	DefaultStream = "octet:kv"
	DefaultMaxLen = 100_000 // entries

	fieldBatch = "batch"     // a Batch in protobuf's binary form
	fieldJSON  = "json"      // or in its JSON form
	fieldBy    = "publisher" // that added it; may be missing
	fieldSeal  = "seal"      // see events.Secret; may be missing
)

const (
	dialTimeout  = 2 * time.Second
	replyTimeout = 2 * time.Second // beyond the time that a read may block
)

// Config names a stream and how to reach it.
type Config struct {
	Addr     string // host:port. Required
	Username string // ACL user; "" is the default user
	Password string
	TLS      *tls.Config // nil speaks plain TCP
	Stream   string      // the key; "" is DefaultStream
	MaxReply int64       // bytes of one reply; 0 is redisclient.DefaultMaxReply
	MaxLen   int64       // entries that the publisher lets the stream keep, about; 0 is DefaultMaxLen

	Publisher string         // the publisher's name in its entries; "" is events.HostName
	Key       events.SealKey // what they are sealed with; "" seals none
	Secret    events.Secret  // what the consumer wants seals by; "" wants none
}

func (c Config) filled() (Config, error) {
	if c.Addr == "" {
		return c, errors.Join(ErrConfig, errors.New("no address"))
	}
	if c.MaxLen < 0 {
		return c, errors.Join(ErrConfig, errors.New("negative length"))
	}
	if c.Stream == "" {
		c.Stream = DefaultStream
	}
	if len(c.Publisher) > events.MaxNameBytes {
		return c, errors.Join(ErrConfig, errors.New("a publisher's name that is too long"))
	}
	if c.Publisher == "" {
		c.Publisher = events.HostName()
	}
	if c.MaxLen == 0 {
		c.MaxLen = DefaultMaxLen
	}
	return c, nil
}

// Client returns a client of at most conns connections, see redisclient.New.
func (c Config) Client(conns int) *redis.Client {
	return redisclient.New(redis.Options{
		Addr: c.Addr, Username: c.Username, Password: c.Password, TLSConfig: c.TLS, PoolSize: conns,
		DialTimeout: dialTimeout, ReadTimeout: replyTimeout, WriteTimeout: replyTimeout,
	}, c.MaxReply)
}
