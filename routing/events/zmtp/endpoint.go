package zmtp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
)

// ErrEndpoint is a malformed address.
var ErrEndpoint = errors.New("zmtp: bad endpoint")

// Endpoint is where a socket is: tcp://host:port or ipc://path.
type Endpoint struct {
	network, address string
	any              bool // of all interfaces: only to listen on
	control          Control
}

// Control is a net.Dialer's: it is asked with every address that a name has resolved to, before a packet is sent there.
type Control func(network, address string, c syscall.RawConn) error

// Guarded returns the endpoint with control asked at each Dial; nil refuses nothing.
func (e Endpoint) Guarded(control Control) Endpoint {
	e.control = control
	return e
}

// ParseEndpoint reads an address as ZeroMQ writes it. A host of * is any interface.
func ParseEndpoint(s string) (Endpoint, error) {
	if path, ok := strings.CutPrefix(s, "ipc://"); ok && path != "" {
		return Endpoint{network: "unix", address: path}, nil
	}
	at, ok := strings.CutPrefix(s, "tcp://")
	if !ok {
		return Endpoint{}, fmt.Errorf("%w: %q is neither tcp:// nor ipc://", ErrEndpoint, s)
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return Endpoint{}, fmt.Errorf("%w: %w", ErrEndpoint, err)
	}
	if port == "*" {
		port = "0"
	}
	e := Endpoint{network: "tcp", address: net.JoinHostPort(host, port), any: host == "*" || host == "0.0.0.0" ||
		host == "::"}
	if host == "*" {
		e.address = ":" + port
	}
	return e, nil
}

// Any reports whether the endpoint names no peer: one can listen there and not dial.
func (e Endpoint) Any() bool { return e.any }

// Local reports whether the endpoint is a path of this machine.
func (e Endpoint) Local() bool { return e.network == "unix" }

// alive has a peer that does not answer any more be noticed within about ten seconds: a subscriber has nothing to send
// by which it would notice.
var alive = net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 2 * time.Second, Count: 3}

// Listen opens the endpoint.
func (e Endpoint) Listen() (net.Listener, error) {
	c := net.ListenConfig{KeepAliveConfig: alive}
	return c.Listen(context.Background(), e.network, e.address)
}

// Dial connects to the endpoint's socket and introduces itself as kind. It ends with ctx.
func (e Endpoint) Dial(ctx context.Context, kind string, l Limits) (*Conn, error) {
	d := net.Dialer{Control: e.control, KeepAliveConfig: alive}
	c, err := d.DialContext(ctx, e.network, e.address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	conn, err := Open(c, kind, l)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = c.Close() // it may be already
		return nil, err
	}
	return conn, nil
}
