package load

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"sync"
	"time"
)

// Requests are what one client sends, in turn, to one gateway.
type Requests struct {
	Addr   string
	Bodies [][]byte    // whole requests, heads included
	Status int         // of every answer
	TLS    *tls.Config // nil asks in plain HTTP
	Door   string      // X-Door of the first answer of each connection; "" is not looked at

	kept []*conn // used in turn by loops; nil has each loop open its own
}

// Result is what came back.
type Result struct {
	Requests int
	Events   int
	Took     time.Duration
	waits    []time.Duration // of each request, sorted
}

// Quantile returns the wait that the share q of all requests did not exceed.
func (r Result) Quantile(q float64) time.Duration {
	if len(r.waits) == 0 {
		return 0
	}
	return r.waits[min(int(q*float64(len(r.waits))), len(r.waits)-1)]
}

// Once sends one request, whatever the answer.
func (r Requests) Once() {
	c, err := r.dial()
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.ask(r.Bodies[0], r.Status)
}

// Closed sends requests on conns connections, on each as soon as the answer before it is whole, for about d.
func (r Requests) Closed(conns int, d time.Duration) (Result, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	results := make([]Result, conns)
	var running sync.WaitGroup
	start := time.Now()
	for i := range conns {
		running.Go(func() {
			if err := r.loop(ctx, i, start.Add(d), &results[i]); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	sum := Result{Took: time.Since(start)}
	for _, one := range results {
		sum.Requests += one.Requests
		sum.Events += one.Events
		sum.waits = append(sum.waits, one.waits...)
	}
	slices.Sort(sum.waits)
	return sum, context.Cause(ctx)
}

// Keep returns the same with n connections that are open already, which Closed uses for as many: what it costs to open
// one is no part of its requests. The caller closes them.
func (r Requests) Keep(n int) (kept Requests, closeAll func(), err error) {
	var all []*conn
	closeAll = func() {
		for _, c := range all {
			_ = c.Close()
		}
	}
	for range n {
		c, err := r.dial()
		if err != nil {
			closeAll()
			return r, nil, err
		}
		all = append(all, c)
	}
	r.kept = all
	return r, closeAll, nil
}

// connection returns the i-th kept connection, or a new one where none are kept; done ends its use.
func (r Requests) connection(i int) (c *conn, done func(), err error) {
	if i < len(r.kept) {
		return r.kept[i], func() {}, nil
	}
	c, err = r.dial()
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil
}

func (r Requests) loop(ctx context.Context, first int, until time.Time, out *Result) error {
	c, done, err := r.connection(first)
	if err != nil {
		return err
	}
	defer done()
	c.door = r.Door
	before := c.events
	for n := first; ctx.Err() == nil; n++ {
		asked := time.Now()
		if asked.After(until) {
			break
		}
		if err := c.ask(r.Bodies[n%len(r.Bodies)], r.Status); err != nil {
			return errors.Join(errors.New("load: request failed"), err)
		}
		out.Requests++
		out.waits = append(out.waits, time.Since(asked))
	}
	out.Events = c.events - before
	return nil
}
