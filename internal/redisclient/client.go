// Package redisclient makes every client of a Redis that the module has. The library allocates by the lengths that a
// reply states, so a reply is measured on its way to it:
//
//	server ─▶ guard ─▶ framing ─▶ library
//
// Invariants:
//
//  1. A length or count beyond its bound never reaches the library: the read fails with ErrReply and the connection is
//     closed.
//  2. A reply takes no more than MaxReply bytes and MaxElements elements, however they are nested, and is nested no
//     deeper than MaxDepth.
//  3. Framing follows all types of RESP2 and RESP3. What is no type of them fails as well.
package redisclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ErrReply is wrapped by what a command fails with where its reply is beyond the bounds, or no reply.
var ErrReply = errors.New("redisclient: bad reply")

// What a reply may hold. An element is one entry of an array, set or push, and a key or a value of a map.
const (
	DefaultMaxReply = 64 << 20 // bytes
	MaxElements     = 1 << 17
	MaxDepth        = 32
	maxLine         = 64 << 10 // bytes of a line: a status, a number, a length
)

// New returns a client by o, which connects when first used and leaves nothing behind once it is closed. It tries
// nothing twice: its callers do. maxReply bounds one reply in bytes; 0 is DefaultMaxReply.
func New(o redis.Options, maxReply int64) *redis.Client {
	if maxReply <= 0 {
		maxReply = DefaultMaxReply
	}
	o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled, o.DisableIdentity = -1, 1, true, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.Dialer = orDead(guarded(redis.NewDialer(&o), maxReply))
	return redis.NewClient(&o)
}

// guarded returns dial with every connection's replies measured.
func guarded(dial dialer, maxReply int64) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		g := &guard{Conn: c, framing: framing{most: maxReply}}
		if raw, ok := c.(syscall.Conn); ok { // by which the library finds out that an idle connection has ended
			return &rawGuard{g, raw}, nil
		}
		return g, nil
	}
}

// guard is a connection whose replies are measured. Like any reader of one connection, the library reads it one call at
// a time.
type guard struct {
	net.Conn
	framing framing
	err     error // of the first bad reply; nothing is read after it
}

type rawGuard struct {
	*guard
	syscall.Conn
}

// Read implements net.Conn. What came with a bad reply is withheld.
func (g *guard) Read(b []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.Conn.Read(b)
	if bad := g.framing.take(b[:n]); bad != nil {
		g.err = fmt.Errorf("%w: %w", ErrReply, bad)
		_ = g.Conn.Close() // it has failed
		return 0, g.err
	}
	return n, err
}
