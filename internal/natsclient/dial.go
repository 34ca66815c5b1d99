package natsclient

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

// dialer makes the library's connections.
type dialer struct {
	most    int64
	timeout time.Duration
	secure  bool // TLS is wanted, whatever the server says
	config  *tls.Config
	name    string // of the server that was configured, for certificates of those that it has told of by number
}

// SkipTLSHandshake tells the library that TLS is done here.
func (*dialer) SkipTLSHandshake() bool { return true }

// Dial implements nats.CustomDialer. A server says what it is before TLS begins, so that is read here and handed on.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, d.timeout)
	if err != nil {
		return nil, err
	}
	open, err := d.open(c, address)
	if err != nil {
		_ = c.Close() // it has failed
		return nil, err
	}
	return open, nil
}

func (d *dialer) open(c net.Conn, address string) (net.Conn, error) {
	if err := c.SetDeadline(time.Now().Add(d.timeout)); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(c, maxInfo)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: no INFO of at most %d bytes: %w", ErrProtocol, maxInfo, err)
	}
	info := bytes.Clone(line)
	wants, err := secured(info)
	if err != nil {
		return nil, err
	}
	g := &guard{Conn: c, in: io.MultiReader(bytes.NewReader(info), in), framing: framing{most: d.most}}
	if wants.TLSRequired || d.secure && wants.TLSAvailable {
		if in.Buffered() > 0 {
			return nil, fmt.Errorf("%w: bytes between INFO and TLS", ErrProtocol)
		}
		secure := tls.Client(c, d.configOf(address))
		if err := secure.Handshake(); err != nil {
			return nil, err
		}
		g.Conn, g.in = secure, io.MultiReader(bytes.NewReader(info), secure)
	}
	return g, c.SetDeadline(time.Time{})
}

// offer is what an INFO says of TLS.
type offer struct {
	TLSRequired  bool `json:"tls_required"`
	TLSAvailable bool `json:"tls_available"`
}

func secured(info []byte) (o offer, err error) {
	text, ok := bytes.CutPrefix(info, []byte("INFO "))
	if !ok {
		return o, fmt.Errorf("%w: %.16q where INFO was due", ErrProtocol, info)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return o, nil
}

func (d *dialer) configOf(address string) *tls.Config {
	c := d.config.Clone()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if c.ServerName = host; net.ParseIP(host) != nil && net.ParseIP(d.name) == nil {
		c.ServerName = d.name
	}
	return c
}

// guard is a connection whose lines and messages are measured. The library reads it one call at a time.
type guard struct {
	net.Conn
	in      io.Reader
	framing framing
	err     error // of the first bad line; nothing is read after it
}

// Read implements net.Conn. What came with a bad line is withheld.
func (g *guard) Read(b []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.in.Read(b)
	if bad := g.framing.take(b[:n]); bad != nil {
		g.err = fmt.Errorf("%w: %w", ErrProtocol, bad)
		_ = g.Conn.Close() // it has failed
		return 0, g.err
	}
	return n, err
}
