package bearer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"octet/internal/dialing"
	"octet/internal/files"
)

// errSame says that a file is as it was.
var errSame = errors.New("bearer: unchanged")

// source is where a JWKS comes from.
type source interface {
	// read returns the text, errSame where it is known to be that of the last time.
	read(ctx context.Context) ([]byte, error)
	// every is how often it is to be read.
	every() time.Duration
}

// sourceOf returns what reads the JWKS of a URL, or of a file.
func sourceOf(c *Config) source {
	if !strings.Contains(c.JWKS, "://") {
		return &file{path: c.JWKS, most: c.JWKSBytes}
	}
	dialer := &net.Dialer{Timeout: c.Timeout, Control: dialing.Control}
	secure := c.TLS
	if secure == nil {
		secure = func() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12} }
	}
	transport := &http.Transport{
		DialContext: dialer.DialContext,
		// each reading has a connection of its own, with the roots of that moment; its context bounds the handshake
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return (&tls.Dialer{NetDialer: dialer, Config: secure()}).DialContext(ctx, network, addr)
		},
		ResponseHeaderTimeout: c.Timeout, MaxResponseHeaderBytes: 64 << 10,
		DisableCompression: true, DisableKeepAlives: true,
	}
	return &remote{url: c.JWKS, most: c.JWKSBytes, refresh: c.Refresh, client: &http.Client{Transport: transport,
		CheckRedirect: func(r *http.Request, _ []*http.Request) error { return http.ErrUseLastResponse }}}
}

// remote is a URL.
type remote struct {
	url     string
	most    int
	refresh time.Duration
	client  *http.Client
}

func (r *remote) every() time.Duration { return r.refresh }

func (r *remote) read(ctx context.Context) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := r.client.Do(q)
	if told := (*url.Error)(nil); errors.As(err, &told) {
		return nil, fmt.Errorf("bearer: the JWKS: %w", told.Err) // without the URL, which may hold a secret
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode/100 == 3:
		return nil, fmt.Errorf("bearer: the JWKS is redirected, to %.200q, which is not followed",
			answer.Header.Get("Location"))
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("bearer: the JWKS is answered with status %d", answer.StatusCode)
	}
	return atMost(answer.Body, r.most)
}

// fileEvery is how often a file is looked at.
const fileEvery = time.Second

// file is a file, which is read again when it has changed.
type file struct {
	path string
	most int
	last files.Stamp // of the text that was read last
}

func (f *file) every() time.Duration { return fileEvery }

func (f *file) read(context.Context) ([]byte, error) {
	stamp := files.StampOf(f.path)
	if stamp.Exists() && stamp == f.last {
		return nil, errSame
	}
	f.last = files.Stamp{} // one that comes back is read, be it the same
	in, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := atMost(in, f.most)
	if err == nil {
		f.last = stamp
	}
	return text, err
}

func atMost(r io.Reader, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(text) > most {
		return nil, fmt.Errorf("bearer: the JWKS is longer than %d bytes", most)
	}
	return text, err
}
