package client

import (
	"context"
	"crypto/tls"
	"net"
	"syscall"
	"time"

	"octet/internal/http1/guard"
	"octet/internal/http1/poll"
)

// Config says how to reach one server. Only URL is required; a zero field takes the default named beside it.
type Config struct {
	// http or https, host, optional port, optional path that every request's path is put under
	URL         string
	Agent       string  // sent as User-Agent; "" is not sent
	Fields      []Field // sent with every request, but for those without a value
	Bearer      string  // sent where a request carries none of its own
	ContentType string  // of requests with a body; default application/octet-stream

	// TLS returns the configuration of a new connection, for https; nil means the system's roots
	TLS func() *tls.Config
	// Control is asked with each address before a packet is sent there, as a net.Dialer asks; nil allows all
	Control func(network, address string, c syscall.RawConn) error
	Dial    func(ctx context.Context) (net.Conn, error) // nil means TCP to URL's host
	Loops   *poll.Loops                                 // that carry streams; nil carries none
	Panics  guard.Report                                // is told of the panics that are contained
	// Fault makes the caller's error of one of this package's, before it is returned; nil leaves them as they are
	Fault func(error) error

	DialTimeout   time.Duration // 5 s, TLS handshake included
	HeaderTimeout time.Duration // 60 s from the end of the request to the response's head
	IdleTimeout   time.Duration // 30 s between reads of a body
	WriteTimeout  time.Duration // 30 s for writing a request; may strike up to a quarter early
	MaxIdle       int           // 64 connections kept open for reuse; negative keeps none
	MaxIdleTime   time.Duration // 30 s until an unused connection is closed
	MaxHeader     int           // 32 KiB, the largest response head
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.DialTimeout, 5 * time.Second}, {&c.HeaderTimeout, time.Minute}, {&c.IdleTimeout, 30 * time.Second},
		{&c.WriteTimeout, 30 * time.Second}, {&c.MaxIdleTime, 30 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.ContentType == "" {
		c.ContentType = "application/octet-stream"
	}
	if c.MaxIdle == 0 {
		c.MaxIdle = 64
	}
	if c.MaxHeader == 0 {
		c.MaxHeader = 32 << 10
	}
	return c
}
