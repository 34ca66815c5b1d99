// Package redislink is a peers.Link over one Redis: messages go by its channels, and a name is a key that expires.
//
//	Send ─ PUBLISH ─▶ <prefix>all, <prefix>to:<name> ─▶ [ Redis ] ─▶ lease.Keeper ─▶ peers.Events
//	                         <prefix>gateway:<name> ◀──────┘
//
// There are two connections, one that listens and one that asks, and a few more for what is put, which is
// <prefix>key:<key>. Each message begins with the incarnation of the link
// that sent it, by which that link knows its own. Channels are one for all of Redis's numbered databases: ensembles
// that share a Redis need prefixes of their own. An ACL user needs ~<prefix>gateway:*, ~<prefix>key:*, &<prefix>*,
// and the commands subscribe, ping, publish, evalsha, eval, type, getrange, get, set and del.
package redislink

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"octet/internal/redisclient"
	"octet/routing/peers"
	"octet/routing/peers/lease"
)

// DefaultPrefix is before each key and channel where no other is said.
const DefaultPrefix = "octet:"

const (
	maxPrefix = 128
	slack     = 64 << 10 // bytes beside a message that a reply may have
	minReply  = 1 << 20  // a message that is too long is dropped, and seldom hung up on
)

// Config says where. A zero field takes the default named beside it, or in lease.Config.
type Config struct {
	Addr     string // host:port. Required
	Username string // ACL user; "" is the default user
	Password string
	DB       int
	Prefix   string // DefaultPrefix

	Name           string // of this gateway. Required
	Lease, Timeout time.Duration
	Keep           time.Duration // of what is put: see lease.DefaultKeep
	MaxMessage     int64         // bytes
	Log            *slog.Logger
}

// Link implements peers.Link.
type Link struct {
	config Config
	keeper *lease.Keeper
	client atomic.Pointer[redis.Client] // what Send uses; nil while there is none
	keys   atomic.Pointer[redis.Client] // what Put uses, likewise
}

// New returns a Link, without connecting yet. It fails with lease.ErrConfig.
func New(c Config) (*Link, error) {
	if c.Prefix == "" {
		c.Prefix = DefaultPrefix
	}
	if c.Addr == "" || c.DB < 0 || len(c.Prefix) > maxPrefix {
		return nil, fmt.Errorf("%w: address %q, database %d, a prefix of %d bytes", lease.ErrConfig, c.Addr, c.DB,
			len(c.Prefix))
	}
	if c.Keep <= 0 {
		c.Keep = lease.DefaultKeep
	}
	k, err := lease.NewKeeper(lease.Config{Name: c.Name, Lease: c.Lease, Timeout: c.Timeout, MaxMessage: c.MaxMessage,
		Log: c.Log})
	if err != nil {
		return nil, err
	}
	return &Link{config: c, keeper: k}, nil
}

// Stats returns what did not arrive so far.
func (l *Link) Stats() lease.Stats { return l.keeper.Stats() }

// Claim implements peers.Link.
func (l *Link) Claim(ctx context.Context) error {
	client := l.open(1)
	defer func() { _ = client.Close() }() // nothing is in flight any more
	return l.keeper.Claim(ctx, l.store(client))
}

// Run implements peers.Link.
func (l *Link) Run(ctx context.Context, on peers.Events) { l.keeper.Run(ctx, l.listen, on) }

// Send implements peers.Link. Messages that are too long are lease.ErrTooLong.
func (l *Link) Send(to string, message []byte) error {
	if to != "" && !lease.Valid(to) {
		return fmt.Errorf("%w: no gateway has the name %.70q", lease.ErrConfig, to)
	}
	if err := l.keeper.Sendable(len(message)); err != nil {
		return err
	}
	client := l.client.Load()
	if client == nil {
		return fmt.Errorf("%w: no connection", peers.ErrAway)
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.keeper.Config().Timeout)
	defer cancel()
	by := l.keeper.Incarnation()
	if err := client.Publish(ctx, l.channel(to), append(by[:], message...)).Err(); err != nil {
		l.keeper.Doubt(err)
		return fmt.Errorf("%w: %w", peers.ErrAway, err)
	}
	return nil
}

// channel returns where a gateway hears; with "", where all do.
func (l *Link) channel(name string) string {
	if name == "" {
		return l.config.Prefix + "all"
	}
	return l.config.Prefix + "to:" + name
}

// open returns a client of so many connections at most. One asks in order.
func (l *Link) open(connections int) *redis.Client {
	c := l.keeper.Config()
	return redisclient.New(redis.Options{
		Addr: l.config.Addr, Username: l.config.Username, Password: l.config.Password, DB: l.config.DB,
		PoolSize:    connections,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout, PoolTimeout: c.Timeout,
	}, max(c.MaxMessage+slack, minReply))
}
