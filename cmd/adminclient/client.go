package adminclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of the commands that use a Client.
const (
	DefaultURL = "127.0.0.1:8081"
	TokenVar   = "OCTET_ADMIN_TOKEN" // the environment variable that has the token
	CAVar      = "OCTET_ADMIN_CA"    // likewise the path of the authorities that it trusts
	CertVar    = "OCTET_ADMIN_CERT"  // of its own certificate
	KeyVar     = "OCTET_ADMIN_KEY"   // and of that one's key
)

const (
	timeout    = 10 * time.Second // of one call
	mostAnswer = 64 << 20         // bytes; 256 replicas × 8 specialists × 50 adapters are 20 MiB of state
)

// Client asks one gateway. Safe for concurrent use.
type Client struct {
	base  *url.URL
	token string // "" if none is sent
	http  *http.Client
}

// New returns a client of the admin listener at an address: host:port, or a URL with http or https. secure is nil for
// the system's authorities; with it an address without a scheme is https. It dials nothing; ErrAddress is of an address
// that cannot be one.
func New(address, token string, secure *tls.Config) (*Client, error) {
	text := URLOf(address, secure)
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil ||
		base.RawQuery != "" || base.Fragment != "" {
		return nil, &Failure{Kind: ErrAddress,
			Message: fmt.Sprintf("%.256q is not the address of an admin listener, such as %s", address, DefaultURL)}
	}
	base.Path = strings.TrimRight(base.Path, "/")
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: base, token: token,
		http: &http.Client{Timeout: timeout, CheckRedirect: stay, Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
			ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: 64 << 10, TLSClientConfig: secure,
		}}}, nil
}

// URLOf returns an address with the scheme by which it is asked.
func URLOf(address string, secure *tls.Config) string {
	switch {
	case strings.Contains(address, "://"):
		return address
	case secure != nil:
		return "https://" + address
	}
	return "http://" + address
}

// URL returns the address that is asked.
func (c *Client) URL() string { return c.base.String() }

// Close closes connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads the JSON at a path, made of segments that are escaped here, into v.
func (c *Client) Get(ctx context.Context, v any, segments ...string) error {
	return c.call(ctx, http.MethodGet, nil, v, join(segments))
}

// find is Get with parameters.
func (c *Client) find(ctx context.Context, v any, parameters url.Values, segments ...string) error {
	return c.call(ctx, http.MethodGet, nil, v, join(segments)+"?"+parameters.Encode())
}

// join makes a path of segments.
func join(segments []string) (path string) {
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}

// Text returns what stands at a path, as it is: metrics.
func (c *Client) Text(ctx context.Context, segments ...string) ([]byte, error) {
	return c.send(ctx, http.MethodGet, nil, join(segments))
}

// call sends body, if there is one, as JSON and reads the answer into v.
func (c *Client) call(ctx context.Context, method string, body, v any, path string) error {
	answer, err := c.send(ctx, method, body, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return &Failure{Kind: ErrAnswer, Cause: err,
			Message: fmt.Sprintf("%s answers, but not as a gateway's admin listener does", c.URL())}
	}
	return nil
}

// send returns the answer of a request, or a Failure.
func (c *Client) send(ctx context.Context, method string, body any, path string) ([]byte, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding a request to %s: %w", c.URL(), err)
		}
		sent = bytes.NewReader(text)
	}
	req, err := c.request(ctx, method, path, sent)
	if err != nil {
		return nil, err
	}
	return c.receive(req)
}

// request returns a request with the token.
func (c *Client) request(ctx context.Context, method, path string, sent io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL()+path, sent)
	if err != nil {
		return nil, &Failure{Kind: ErrAddress, Message: Plain(err.Error()), Cause: err}
	}
	if sent != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req, nil
}

// receive sends a request and returns what is answered.
func (c *Client) receive(req *http.Request) ([]byte, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.down(req.Context(), err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, c.down(req.Context(), err)
	case resp.StatusCode != http.StatusOK:
		return nil, c.refusal(resp.StatusCode, answer)
	case len(answer) > mostAnswer:
		return nil, &Failure{Kind: ErrAnswer, Message: fmt.Sprintf("%s answers with more than %d bytes", c.URL(),
			mostAnswer)}
	}
	return answer, nil
}

// down is the failure of a listener that could not be asked. What has ended ctx is not the listener's fault.
func (c *Client) down(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := err
	if of := new(url.Error); errors.As(err, &of) {
		why = of.Err // without the URL, which stands before it
	}
	return &Failure{Kind: ErrDown, Cause: err,
		Message: fmt.Sprintf("no admin listener answers at %s: %v", c.URL(), why)}
}
