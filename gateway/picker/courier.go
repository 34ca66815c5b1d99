package picker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"octet/engine"
	"octet/gateway/dispatch"
	"octet/gateway/ensemble"
)

var _ dispatch.Courier = (*call)(nil)

// errSpent is a second request for one call.
var errSpent = errors.New("picker: a request is carried once")

// Do implements dispatch.Courier: the proxy is told where the request goes, what its head and body are, and the head of
// the answer is waited for.
func (c *call) Do(ctx context.Context, to *ensemble.Replica, q *engine.Request) (engine.Response, error) {
	if c.replica != nil {
		return nil, errSpent
	}
	at := to.Endpoint()
	if at == "" {
		return nil, fmt.Errorf("%w: %w", engine.ErrLocal, errNoEndpoint)
	}
	c.replica = to
	c.forget()
	if err := c.forward(at, to.Prefix(), ranked(q, to)); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) { // the proxy's fault: no replica is to be blamed for it
			c.cancel()
			err = ended(c.ctx)
		}
		return nil, err
	}
	var until time.Time
	if q.HeaderTimeout > 0 {
		began := q.At
		if began.IsZero() {
			began = time.Now()
		}
		until = began.Add(q.HeaderTimeout)
	}
	m, err := c.next(ctx, until)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%w: no head", engine.ErrTimeout)
	case err != nil:
		return nil, err
	case m.GetResponseHeaders() == nil:
		return nil, c.misplaced(m, "the wait for an answer")
	}
	if err := localReply(m); err != nil {
		return nil, err
	}
	c.answers, err = responseOf(ctx, c, m.GetResponseHeaders(), q.IdleTimeout)
	if err != nil {
		return nil, err
	}
	return c.answers, nil
}

// ranked returns q with the field by which the engine is told its rank: the endpoint is that of all ranks.
func ranked(q *engine.Request, to *ensemble.Replica) *engine.Request {
	name, value := to.RankField()
	if name == "" {
		return q
	}
	told := *q
	told.Fields = append(slices.Clip(q.Fields), engine.Field{Name: name, Value: value})
	return &told
}

// forward sends what a replica is sent of the request: all of it is ours, as over a connection of our own.
func (c *call) forward(at, prefix string, q *engine.Request) error {
	fields, size := c.fieldsOf(q), 0
	for _, s := range q.Segments {
		size += len(s)
	}
	fields = append(fields, set(":path", prefix+q.Path, false), set("content-length", strconv.Itoa(size), false))
	if err := c.send(headed(at, fields, c.unsaid(fields)), time.Time{}); err != nil {
		return err
	}
	sent := 0
	for _, s := range q.Segments {
		for len(s) > 0 {
			n := min(len(s), mostPiece)
			sent += n
			// the body may be the gateway's again once the request has ended, and a message may outlive it
			piece := append([]byte(nil), s[:n]...)
			if err := c.send(requestPiece(piece, sent == size && !c.trailers), time.Time{}); err != nil {
				return err
			}
			s = s[n:]
		}
	}
	switch {
	case c.trailers:
		return c.send(requestTrailers(), time.Time{})
	case size == 0: // no piece was the last one
		return c.send(requestPiece(nil, true), time.Time{})
	}
	return nil
}

// fieldsOf returns the fields of a request's head, as an engine's own client sends them.
func (c *call) fieldsOf(q *engine.Request) []*core.HeaderValueOption {
	accept := "application/json"
	if q.Stream {
		accept = "text/event-stream"
	}
	fields := []*core.HeaderValueOption{set("content-type", "application/json", false), set("accept", accept, false)}
	if q.RequestID != "" {
		fields = append(fields, set("x-request-id", q.RequestID, false))
	}
	if q.Bearer != "" {
		fields = append(fields, set("authorization", "Bearer "+q.Bearer, false))
	}
	said := map[string]bool{}
	for _, f := range q.Fields {
		name := strings.ToLower(f.Name)
		fields = append(fields, set(name, f.Value, said[name]))
		said[name] = true
	}
	if via := strings.ToLower(engine.Via); c.via != "" {
		fields = append(fields, set(via, c.via, said[via]))
	}
	return fields
}

// unsaid returns the client's fields that an engine is not told: all but those that are set, and those by which proxies
// know each other.
func (c *call) unsaid(fields []*core.HeaderValueOption) (without []string) {
	told := map[string]bool{}
	for _, f := range fields {
		told[f.GetHeader().GetKey()] = true
	}
	for _, name := range c.names {
		proxies := strings.HasPrefix(name, "x-forwarded-") || strings.HasPrefix(name, "x-envoy-")
		if !told[name] && !proxies && name != endpointKey {
			without = append(without, name)
		}
	}
	return without
}
