package openai

import (
	"context"
	"sync/atomic"

	"octet/engine"
	"octet/internal/http1/client"
)

// Client talks to one replica over its own pool of connections. It implements engine.Client. Safe for concurrent use.
type Client struct {
	http   *client.Client
	kind   string // of engine, as configured
	health string // configured; "" is the kind's own
	paths  engine.Paths
	lists  engine.Listing
	kinds  engine.Table
	rank   engine.Rank
	// its engine does not say whether it sleeps, as far as is known since Ask; see Standing
	sleepless atomic.Bool
}

var _ engine.Client = (*Client)(nil)

// New returns a Client. It dials nothing; an unusable Config is ErrConfig.
func New(cfg Config) (*Client, error) {
	if cfg.Engine == "" {
		cfg.Engine = engine.Default
	}
	if cfg.Kinds == nil {
		cfg.Kinds = engine.AllKinds()
	}
	kind, _ := cfg.Kinds.Named(cfg.Engine)
	http, err := client.New(cfg.transport(&kind))
	if err != nil {
		return nil, fault(err)
	}
	paths, err := pathsOf(cfg)
	if err != nil {
		return nil, err
	}
	return &Client{http: http, kind: cfg.Engine, health: cfg.HealthPath, paths: paths, lists: kind.Lists,
		kinds: cfg.Kinds, rank: cfg.Rank}, nil
}

// Do sends r and returns once the head of the answer is here, whatever its status. The body follows by Response.Feed.
// An idle connection that the engine has closed meanwhile is not used; one that turns out to be dead before any byte of
// an answer is replaced by a new one, once, where r.Again allows it.
func (c *Client) Do(ctx context.Context, r *engine.Request) (engine.Response, error) {
	sent := client.Request{Method: r.Method, Path: r.Path, Segments: r.Segments, RequestID: r.RequestID,
		Bearer: r.Bearer, Fields: r.Fields, At: r.At, HeaderTimeout: r.HeaderTimeout,
		IdleTimeout: r.IdleTimeout, Again: r.Again}
	if r.Stream {
		sent.Accept = "text/event-stream"
	}
	resp, err := c.http.Do(ctx, &sent)
	if err != nil {
		return nil, err // and no Response: an interface that holds a nil pointer is not nil
	}
	return resp, nil
}

// Close closes the idle connections; those in use are closed when their answers are. Do after Close still works, but
// keeps no connection.
func (c *Client) Close() error { return c.http.Close() }
