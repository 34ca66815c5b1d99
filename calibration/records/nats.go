package records

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"octet/internal/natsclient"
)

// NATSConfig is a subject of a server. What shall be kept of it is a JetStream's of the operator that covers the
// subject.
type NATSConfig struct {
	URL     string
	Subject string
	Creds   string // path of a credentials file; optional
	CA      string // path of a PEM file with the roots to trust; "" is the system's

	MaxMessage int64 // bytes of one message that the server may send; 0 is natsclient.DefaultMaxMessage
}

// NATS publishes records to a subject.
type NATS struct {
	conn    *nats.Conn
	subject string
}

// NewNATS connects in the background, for as long as it takes. It fails only where trying again would not help.
func NewNATS(cfg NATSConfig) (*NATS, error) {
	conn, err := cfg.dial(nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	if err != nil {
		return nil, err
	}
	return &NATS{conn, cfg.Subject}, nil
}

// dialTimeout is for one try to reach the server.
const dialTimeout = 5 * time.Second

func (c NATSConfig) dial(options ...nats.Option) (*nats.Conn, error) {
	options = append(options, nats.Name("octet calibration"))
	return natsclient.Connect(natsclient.Config{URL: c.URL, Creds: c.Creds, CA: c.CA, MaxMessage: c.MaxMessage,
		Timeout: dialTimeout}, options...)
}

// Name implements Sink.
func (n *NATS) Name() string { return "nats" }

// Write implements Sink: it returns when the server has the record.
func (n *NATS) Write(ctx context.Context, line []byte) error {
	if err := n.conn.Publish(n.subject, line); err != nil {
		return err
	}
	return n.conn.FlushWithContext(ctx)
}

// Close implements Sink.
func (n *NATS) Close() error {
	n.conn.Close()
	return nil
}
