package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"octet/engine"
	"octet/internal/http1/poll"
)

// ErrConfig means that a Config cannot be served.
var ErrConfig = errors.New("openai: unusable configuration")

// Config says how to reach one replica. Only URL is required; a zero field takes the default named beside it.
type Config struct {
	// http or https, host, optional port, optional path that every request's path is put under
	URL string
	// vllm | sglang | llamacpp | openai | auto; default vllm. Where probes and adapters differ
	Engine     string
	HealthPath string // what a probe asks for; default the kind's own
	// who asks: sent with every request, so that one that comes back is known; "" is not sent
	Via    string
	Bearer string                                      // sent where a request carries none of its own
	TLS    *tls.Config                                 // for https; nil is the system's roots
	Dial   func(ctx context.Context) (net.Conn, error) // nil is TCP to URL's host
	Loops  *poll.Loops                                 // that carry streams; nil carries none

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
	if c.Engine == "" {
		c.Engine = engine.Default
	}
	if c.MaxIdle == 0 {
		c.MaxIdle = 64
	}
	if c.MaxHeader == 0 {
		c.MaxHeader = 32 << 10
	}
	return c
}
