package openai

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"octet/engine"
	"octet/internal/contain"
	"octet/internal/dialing"
	"octet/internal/http1/client"
	"octet/internal/http1/poll"
)

// Config says how to reach one replica. Only URL is required; a zero field takes the default named beside it.
type Config struct {
	// http or https, host, optional port, optional path that every request's path is put under
	URL string
	// the name of its kind, or engine.Auto; default vllm. Where probes and adapters differ
	Engine string
	// the engine's data-parallel rank that every request is for and that Scrape reads, where its kind has a header for
	// it; the zero Rank is the whole engine
	Rank       engine.Rank
	Kinds      engine.Table // of engines; nil means engine.AllKinds()
	HealthPath string       // what a probe asks for; default the kind's own
	// the gateway's name, sent with every request, so that one that comes back is known; "" is not sent
	Via    string
	Bearer string                                      // sent where a request carries none of its own
	TLS    func() *tls.Config                          // of a new connection, for https; nil means the system's roots
	Dial   func(ctx context.Context) (net.Conn, error) // nil means TCP to URL's host
	Loops  *poll.Loops                                 // that carry streams; nil carries none
	Guard  *dialing.Guard                              // of TCP; nil lets no link-local address through

	DialTimeout   time.Duration // 5 s, TLS handshake included
	HeaderTimeout time.Duration // 60 s from the end of the request to the response's head
	IdleTimeout   time.Duration // 30 s between reads of a body
	WriteTimeout  time.Duration // 30 s for writing a request; may strike up to a quarter early
	MaxIdle       int           // 64 connections kept open for reuse; negative keeps none
	MaxIdleTime   time.Duration // 30 s until an unused connection is closed
	MaxHeader     int           // 32 KiB, the largest response head
}

// transport is what cfg says to the HTTP client, whose own defaults are those of Config.
func (c Config) transport(kind *engine.Kind) client.Config {
	fields := []client.Field{{Name: engine.Via, Value: c.Via}}
	if kind.Ranks.Header != "" {
		fields = append(fields, client.Field{Name: kind.Ranks.Header, Value: c.Rank.String()})
	}
	return client.Config{
		URL: c.URL, Agent: "octet", Fields: fields, Bearer: c.Bearer,
		ContentType: "application/json",
		TLS:         c.TLS, Control: c.Guard.Control, Dial: c.Dial, Loops: c.Loops, Panics: contain.Report,
		Fault:       fault,
		DialTimeout: c.DialTimeout, HeaderTimeout: c.HeaderTimeout, IdleTimeout: c.IdleTimeout,
		WriteTimeout: c.WriteTimeout, MaxIdle: c.MaxIdle, MaxIdleTime: c.MaxIdleTime, MaxHeader: c.MaxHeader,
	}
}
