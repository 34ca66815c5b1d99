// Package natslink is a peers.Link over NATS: messages go by core subjects, and names are keys of a JetStream bucket.
//
//	Send ─▶ <bucket>.all, <bucket>.to.<name> ─▶ [ NATS ] ─▶ lease.Keeper ─▶ peers.Events
//	                       gateways.<name> in the bucket ◀─┘
//
// The first gateway makes the bucket, whose values live for its lease; one that exists is used as it is. What is put
// goes to a second bucket, <bucket>-keys, that the first Put makes. A credential needs to publish to and subscribe to
// <bucket>.>, and JetStream's API for the streams KV_<bucket> and KV_<bucket>-keys.
package natslink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"octet/internal/natsclient"
	"octet/routing/peers"
	"octet/routing/peers/lease"
)

// DefaultBucket is the bucket's name where none is said.
const DefaultBucket = "octet"

const (
	incoming  = 256           // messages between the library and the inbox, which never waits
	slack     = 64 << 10      // bytes beside a message that the server may send
	minFrame  = 1<<20 + slack // what a NATS server lets its clients send is dropped here, not hung up on
	maxPings  = 2             // without an answer, after which the connection is closed
	namespace = "gateways."   // of keys
)

// Config says where. A zero field takes the default named beside it, or in lease.Config.
type Config struct {
	URL    string // nats:// or tls://host:port, several separated by commas. Required
	Creds  string // path of a credentials file; "" for none
	CA     string // path of a PEM file with the roots to trust; "" for the system's
	Bucket string // DefaultBucket; letters, digits, '-' and '_'

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
	conn   atomic.Pointer[nats.Conn] // what Send uses; nil while there is none
	keys   atomic.Pointer[keys]      // what Put uses, likewise
}

// New returns a Link, without connecting yet. It fails with lease.ErrConfig.
func New(c Config) (*Link, error) {
	if c.Bucket == "" {
		c.Bucket = DefaultBucket
	}
	if c.URL == "" || !lease.Valid(c.Bucket) {
		return nil, fmt.Errorf("%w: URL %q, bucket %.70q", lease.ErrConfig, c.URL, c.Bucket)
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

// Claim implements peers.Link. It fails with natsclient.ErrConfig as well.
func (l *Link) Claim(ctx context.Context) error {
	conn, err := l.dial()
	switch {
	case errors.Is(err, natsclient.ErrConfig):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", peers.ErrAway, err)
	}
	defer conn.Close()
	s, err := l.store(conn)
	if err != nil {
		return err
	}
	return l.keeper.Claim(ctx, s)
}

// Run implements peers.Link.
func (l *Link) Run(ctx context.Context, on peers.Events) { l.keeper.Run(ctx, l.listen, on) }

// Send implements peers.Link. Messages that are too long for this link or the server are lease.ErrTooLong.
func (l *Link) Send(to string, message []byte) error {
	if to != "" && !lease.Valid(to) {
		return fmt.Errorf("%w: no gateway has the name %.70q", lease.ErrConfig, to)
	}
	if err := l.keeper.Sendable(len(message)); err != nil {
		return err
	}
	conn := l.conn.Load()
	if conn == nil {
		return fmt.Errorf("%w: no connection", peers.ErrAway)
	}
	switch err := conn.Publish(l.subject(to), message); {
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %d bytes: %w", lease.ErrTooLong, len(message), err)
	case err != nil:
		l.keeper.Doubt(err)
		return fmt.Errorf("%w: %w", peers.ErrAway, err)
	}
	return nil
}

// subject returns where a gateway hears; with "", where all do.
func (l *Link) subject(name string) string {
	if name == "" {
		return l.config.Bucket + ".all"
	}
	return l.config.Bucket + ".to." + name
}
