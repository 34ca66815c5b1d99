package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"octet/internal/http1/field"
	"octet/internal/http1/lifetime"
	"octet/internal/http1/sock"
)

// Client talks to one server over its own pool of connections. Safe for concurrent use.
type Client struct {
	cfg      Config
	at       endpoint
	tls      func() *tls.Config // of this host; nil without TLS
	openings openings
	pool     pool
	hangups  hangups
}

// New returns a Client. It dials nothing; an unusable Config is ErrConfig.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	at, err := parseEndpoint(cfg.URL)
	if err != nil {
		return nil, err
	}
	if cfg.Bearer != "" && !field.IsVisible(cfg.Bearer) {
		return nil, fmt.Errorf("%w: the bearer key has bytes that a header cannot carry", ErrConfig)
	}
	c := &Client{cfg: cfg, at: at}
	c.hangups.panics = cfg.Panics
	c.pool.limit, c.pool.maxAge = cfg.MaxIdle, cfg.MaxIdleTime
	if at.secure {
		c.tls = tlsFor(cfg.TLS, at.name)
	}
	if c.cfg.Dial == nil {
		c.cfg.Dial = at.dialer(cfg.Control)
	}
	return c, nil
}

// order is a request with what is known about it.
type order struct {
	*Request
	opening *opening
	at      moment // when it was given, or begun anew
}

// Do sends r and returns once the head of the answer is here, whatever its status. The body follows by Response.Feed.
// An idle connection that the engine has closed meanwhile is not used; one that turns out to be dead before any byte of
// an answer is replaced by a new one, once, where r.Again allows it.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	sock.Batch() // before anything is touched that sending needs again
	resp, err := c.do(ctx, r)
	if err != nil {
		return nil, c.fault(err)
	}
	return resp, nil
}

func (c *Client) do(ctx context.Context, r *Request) (*Response, error) {
	begin, err := c.openingOf(r)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	o := order{r, begin, momentOf(r.At)}
	var sent error // why a kept connection was lost with the request; nil: it was not
	for idle := c.idle(); idle != nil; idle = c.idle() {
		resp, err := c.exchange(ctx, idle, &o)
		if err == nil {
			return resp, nil
		}
		if errors.Is(err, errStale) {
			continue
		}
		var gone *lostError
		if !errors.As(err, &gone) {
			return nil, err
		}
		if gone.sent {
			sent = err
		}
		break
	}
	resp, err := c.anew(ctx, &o, sent)
	if sent != nil && errors.Is(err, ErrConnect) {
		err = fmt.Errorf("%w: the engine went away with the request, and then: %v", ErrReset,
			err) //nolint:errorlint // it must not match ErrConnect: something was sent
	}
	return resp, err
}

// fault is err as the caller knows it.
func (c *Client) fault(err error) error {
	if c.cfg.Fault == nil {
		return err
	}
	return c.cfg.Fault(err)
}

// idle returns an idle connection that is alive as far as can be seen, or will be looked at by ask; nil when there is
// none.
func (c *Client) idle() *conn {
	for {
		cn := c.pool.take()
		if cn == nil || cn.lazy != nil || cn.alive() {
			return cn
		}
		cn.close()
	}
}

// anew is an exchange on a new connection. Of a request that was lost with another before, the engine that can be
// reached may have begun on it, so o.Again decides: where it does not allow it, lost is returned.
func (c *Client) anew(ctx context.Context, o *order, lost error) (*Response, error) {
	cn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	if lost != nil && o.Again != nil && !o.Again() {
		cn.close()
		return nil, lost
	}
	o.at = now()
	return c.exchange(ctx, cn, o)
}

// exchange sends o on cn and reads the head of the answer. cn is closed when it fails.
func (c *Client) exchange(ctx context.Context, cn *conn, o *order) (*Response, error) {
	watch := lifetime.Listen(ctx, cn)
	if err := c.roundTrip(ctx, cn, o); err != nil {
		watch.Stop()
		cn.close()
		if ctx.Err() != nil {
			err = ended(ctx)
		}
		return nil, err
	}
	resp := &Response{client: c, conn: cn, ctx: ctx, watch: watch, status: cn.head.status,
		frame: cn.head.framing(o.Method)}
	resp.SetIdle(o.IdleTimeout)
	return resp, nil
}

// earlyAnswer is how long an engine that broke off the reading of a request is given to say why.
const earlyAnswer = 100 * time.Millisecond

// roundTrip sends o and reads the head of its answer, which has to come within its time once o is sent.
func (c *Client) roundTrip(ctx context.Context, cn *conn, o *order) error {
	patience := o.HeaderTimeout
	if patience <= 0 {
		patience = c.cfg.HeaderTimeout
	}
	cn.hold()
	cn.load(appendHead(cn.buf[:0], o.opening, o.Request), o.Segments)
	n, failed := int64(0), error(nil)
	if cn.ask() {
		err := cn.readHead(ctx, o.at.after(patience), c.cfg.MaxHeader)
		if err == nil {
			return nil
		}
		var unsent *unsentError
		if !errors.As(err, &unsent) {
			return err
		}
		n, failed = int64(unsent.sent), unsent.cause
	}
	if failed == nil {
		cn.armWrite(c.cfg.WriteTimeout)
		if ctx.Err() != nil { // its interrupt may have come before, and be undone
			return ended(ctx)
		}
		more, err := cn.send()
		n, failed = n+more, err
	}
	if failed == nil {
		return cn.readHead(ctx, now().after(patience), c.cfg.MaxHeader)
	}
	return c.early(ctx, cn, n, failed)
}

// early reads the answer of an engine that broke off the reading of a request, of which n bytes were sent.
func (c *Client) early(ctx context.Context, cn *conn, n int64, failed error) error {
	if n == 0 || isTimeout(failed) {
		return writeFailed(n, failed)
	}
	if cn.readHead(ctx, now().after(earlyAnswer), c.cfg.MaxHeader) != nil {
		return writeFailed(n, failed)
	}
	cn.head.close = true
	return nil
}

func writeFailed(n int64, err error) error {
	if isTimeout(err) {
		return fmt.Errorf("%w: the request was not taken", ErrTimeout)
	}
	return &lostError{cause: err, sent: n > 0}
}

// Close closes the idle connections; those in use are closed when their answers are. Do after Close still works, but
// keeps no connection.
func (c *Client) Close() error {
	c.pool.close()
	return nil
}
