// Package natsclient makes every connection to a NATS server that the module has. The library allocates by the sizes
// that the server's lines state, and keeps a line until it ends, so what arrives is measured on its way to it:
//
//	server ─▶ TLS, where there is some ─▶ guard ─▶ framing ─▶ library
//
// Invariants:
//
//  1. A size beyond its bound never reaches the library: the read fails with ErrProtocol and the connection is closed.
//  2. A message takes no more than MaxMessage bytes with its headers, an INFO maxInfo, any other line maxLine.
//  3. TLS is done here, so that what is measured is what the library reads. Websockets, which it would unpack by
//     itself, are refused.
package natsclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Errors of this package. ErrProtocol is what a connection ends with where the server says more than it may, or nothing
// that is NATS.
var (
	ErrConfig   = errors.New("natsclient: bad config")
	ErrProtocol = errors.New("natsclient: bad protocol")
)

// Bounds of what a server may send.
const (
	DefaultMaxMessage = 16 << 20 // bytes of a message, with its headers
	maxInfo           = 64 << 10 // bytes of an INFO
	maxLine           = 4 << 10  // bytes of any other line
)

// Config says where to connect, and with which credentials. A zero field is unset, or the default named beside it.
type Config struct {
	URL        string // nats:// or tls://host:port, several separated by commas. Required
	Creds      string // path of a credentials file
	CA         string // path of a PEM file with the roots to trust instead of the system's; implies TLS
	MaxMessage int64  // bytes of a message; DefaultMaxMessage
	Timeout    time.Duration
}

// Connect returns a connection. options are for what is not said by c.
func Connect(c Config, options ...nats.Option) (*nats.Conn, error) {
	d, err := c.dialer()
	if err != nil {
		return nil, err
	}
	options = append(options, nats.SetCustomDialer(d), nats.SkipHostLookup(), nats.Timeout(d.timeout))
	if d.secure {
		options = append(options, nats.Secure())
	}
	if c.Creds != "" {
		options = append(options, nats.UserCredentials(c.Creds))
	}
	return nats.Connect(c.URL, options...)
}

func (c Config) dialer() (*dialer, error) {
	d := &dialer{most: c.MaxMessage, timeout: c.Timeout, secure: c.CA != "",
		config: &tls.Config{MinVersion: tls.VersionTLS12}}
	if d.most <= 0 {
		d.most = DefaultMaxMessage
	}
	if d.timeout <= 0 {
		d.timeout = nats.DefaultTimeout
	}
	for _, each := range strings.Split(c.URL, ",") {
		u, err := url.Parse(withScheme(strings.TrimSpace(each)))
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" {
			return nil, fmt.Errorf("%w: %q is neither nats:// nor tls://", ErrConfig, each)
		}
		d.secure = d.secure || u.Scheme == "tls"
		if d.name == "" {
			d.name = u.Hostname()
		}
	}
	if c.CA == "" {
		return d, nil
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	d.config.RootCAs = x509.NewCertPool()
	if !d.config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: %s holds no certificate", ErrConfig, c.CA)
	}
	return d, nil
}

func withScheme(s string) string {
	if strings.Contains(s, "://") {
		return s
	}
	return "nats://" + s
}
