package otlp

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"octet/internal/dialing"
)

// How a batch that the receiver does not take at present is sent again, within its Timeout.
const (
	retryAfter = 500 * time.Millisecond
	retryMost  = 5 * time.Second
)

// What connections to the receiver are at most.
const (
	idleFor   = 90 * time.Second
	maxHeader = 64 << 10 // bytes
)

// newSender returns the SDK's exporter. It connects with the first batch, and goes by the configuration alone: not by
// variables of the environment, but for a proxy's.
func newSender(c *Config) (sdktrace.SpanExporter, error) {
	at, err := receiver(c.URL)
	if err != nil {
		return nil, err
	}
	headers := maps.Clone(c.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	sender, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(at),
		otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithCompression(otlptracehttp.NoCompression),
		otlptracehttp.WithHTTPClient(newClient(c.Timeout)),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: retryAfter,
			MaxInterval: retryMost, MaxElapsedTime: c.Timeout}))
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	return sender, nil
}

// receiver returns the URL that traces are posted to.
func receiver(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("otlp: %w", err)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

func newClient(timeout time.Duration) *http.Client {
	d := &net.Dialer{Timeout: timeout, Control: dialing.Control}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: d.DialContext, MaxConnsPerHost: 1,
			IdleConnTimeout: idleFor, MaxResponseHeaderBytes: maxHeader,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}},
	}
}
