package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Tracing is where traces of requests go, and which requests have one.
type Tracing struct {
	// Receiver of OTLP over HTTP, such as http://127.0.0.1:4318; without a path /v1/traces is asked. Empty = no traces.
	OTLP string `yaml:"otlp" form:"otlp"`
	// Share of the requests that are traced. Those that fail, and those with X-Explain: 1, are in any case.
	Sample float64 `yaml:"sample" default:"0.01" range:"0..1"`
	// A request with a traceparent is traced as that says; false = by the share, as others.
	Follow bool `yaml:"follow" default:"true"`
	// Traces a second at most, whatever asks for them; further ones are dropped and counted.
	PerSecond int `yaml:"per_second" default:"1000" range:"1..100000"`
	// Traces that wait to be sent; further ones are dropped and counted.
	Queue int `yaml:"queue" default:"2048" range:"1..100000"`
	// How long a trace waits for others to be sent with.
	Interval time.Duration `yaml:"interval" default:"1s" range:"1ms..1m"`
	// For a batch, all tries together; what was not taken by then is dropped and counted.
	Timeout time.Duration `yaml:"timeout" default:"10s" range:"10ms..1m"`
	// For all that is queued when the gateway ends, or traces go elsewhere.
	CloseTimeout time.Duration `yaml:"close_timeout" default:"3s" range:"1ms..1m"`
	// What the gateway is called in traces.
	ServiceName string `yaml:"service_name" default:"octet" form:"name"`
	// Headers that the receiver is sent, such as a key; ${VAR} reads one from the environment.
	Headers map[string]string `yaml:"headers" form:"name"`
}

// formOTLP wants http or https and a host; no user, query or fragment.
func formOTLP(text string) *problem {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return wrong(CodeBadURL, "%q is not an http or https URL", clip(text))
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return wrong(CodeBadURL, "a receiver's URL has no user, query or fragment; headers is a key of its own")
	}
	return formURL(text)
}

// maxTraceHeaders is how many headers a receiver of traces is sent.
const maxTraceHeaders = 16

// checkTracing notes headers that no receiver can be sent.
func checkTracing(c *Config, r *report) {
	const path = "tracing.headers"
	if n := len(c.Tracing.Headers); n > maxTraceHeaders {
		r.addAt(path, CodeTooMany, "%d headers, at most %d", n, maxTraceHeaders)
	}
	control := func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
	for name, value := range c.Tracing.Headers {
		header := http.CanonicalHeaderKey(name)
		switch {
		case strings.HasPrefix(header, "Content-") || header != "User-Agent" && slices.Contains(framing, header):
			r.addAt(join(path, name), CodeReservedName, "%s is the gateway's to set", clip(header))
		case strings.ContainsFunc(value, control):
			r.addAt(join(path, name), CodeBadValue, "a header's value has no control characters")
		}
	}
}
