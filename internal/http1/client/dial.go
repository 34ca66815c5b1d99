package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"

	"octet/internal/http1/field"
)

// endpoint is where a replica is.
type endpoint struct {
	address string // host:port to dial
	host    string // of the Host header
	name    string // of the certificate
	prefix  string // put before every path; no slash at its end
	secure  bool
}

func parseEndpoint(raw string) (endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	e := endpoint{host: u.Host, name: u.Hostname(), prefix: strings.TrimRight(u.EscapedPath(), "/"),
		secure: u.Scheme == "https"}
	port := u.Port()
	switch {
	case u.Scheme != "http" && !e.secure:
		return e, fmt.Errorf("%w: %q: the scheme must be http or https", ErrConfig, raw)
	case e.name == "" || !field.IsVisible(e.host):
		return e, fmt.Errorf("%w: %q: no usable host", ErrConfig, raw)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return e, fmt.Errorf("%w: %q: only scheme, host, port and path may be given", ErrConfig, u.Redacted())
	case port == "" && e.secure:
		port = "443"
	case port == "":
		port = "80"
	}
	e.address = net.JoinHostPort(e.name, port)
	return e, nil
}

// dialer returns what dials e over TCP.
func (e endpoint) dialer(control func(string, string, syscall.RawConn) error) func(context.Context) (net.Conn, error) {
	d := &net.Dialer{Control: control}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", e.address) }
}

// tlsFor returns what makes base fit for one host and for HTTP/1.1 alone. Without base it is made once.
func tlsFor(base func() *tls.Config, name string) func() *tls.Config {
	fit := func(cfg *tls.Config) *tls.Config {
		if cfg.ServerName == "" {
			cfg.ServerName = name
		}
		cfg.NextProtos = []string{"http/1.1"}
		return cfg
	}
	if base == nil {
		usual := fit(&tls.Config{MinVersion: tls.VersionTLS12})
		return func() *tls.Config { return usual }
	}
	return func() *tls.Config { return fit(base().Clone()) }
}

// dial opens a connection: ErrConnect, ErrLocal, or why ctx ended.
func (c *Client) dial(ctx context.Context) (*conn, error) {
	bounded, cancel := context.WithTimeout(ctx, c.cfg.DialTimeout)
	defer cancel()
	hurried := endsBefore(ctx, bounded)
	nc, err := c.cfg.Dial(bounded)
	if err == nil && c.tls != nil {
		nc, err = handshake(bounded, nc, c.tls())
	}
	switch {
	case err == nil:
		return newConn(nc), nil
	case hurried && (isTimeout(err) || errors.Is(err, context.DeadlineExceeded)):
		<-ctx.Done() // the dialer has a timer of its own for ctx's deadline, and it fires first
		return nil, ended(ctx)
	case ctx.Err() != nil:
		return nil, ended(ctx)
	case isLocal(err):
		return nil, fmt.Errorf("%w: %w", ErrLocal, err)
	}
	return nil, fmt.Errorf("%w: %w", ErrConnect, err)
}

// endsBefore reports whether the deadline that binds the child is its parent's: a timeout says nothing of the replica
// then.
func endsBefore(parent, child context.Context) bool {
	own, ok := parent.Deadline()
	bound, _ := child.Deadline()
	return ok && own.Equal(bound)
}

func handshake(ctx context.Context, nc net.Conn, cfg *tls.Config) (net.Conn, error) {
	secure := tls.Client(nc, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = nc.Close() // the handshake's error is the one to report
		return nil, err
	}
	return secure, nil
}
