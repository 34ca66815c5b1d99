package redisclient

import (
	"context"
	"fmt"
	"net"
	"time"
)

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// orDead returns dial, with its failures handed out as connections that fail. The client counts failed dials and, once
// they are many, answers without dialling while a goroutine of its own dials once a second, which outlives Close. Here
// the pauses are the caller's, and nothing outlives anything.
func orDead(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return dead{fmt.Errorf("dialling: %w", err)}, nil // the client takes off one layer
		}
		return c, nil
	}
}

// dead is a connection that was never made.
type dead struct{ why error }

func (d dead) Read([]byte) (int, error)       { return 0, d.why }
func (d dead) Write([]byte) (int, error)      { return 0, d.why }
func (dead) Close() error                     { return nil }
func (dead) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (dead) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (dead) SetDeadline(time.Time) error      { return nil }
func (dead) SetReadDeadline(time.Time) error  { return nil }
func (dead) SetWriteDeadline(time.Time) error { return nil }
