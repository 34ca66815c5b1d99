package picker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"octet/engine"
)

// response is an engine's answer as the proxy brings it.
type response struct {
	call   *call
	ctx    context.Context
	status int
	fields map[string]string // first values, by names in lower case; nil once closed
	names  []string          // in lower case, as they came
	idle   time.Duration
	came   int   // bytes of the body
	err    error // how the body ended; nil while it has not
	tail   bool  // trailers ended it
}

var _ engine.Response = (*response)(nil)

func responseOf(ctx context.Context, c *call, h *extproc.HttpHeaders, idle time.Duration) (*response, error) {
	r := &response{call: c, ctx: ctx, fields: map[string]string{}, idle: idle}
	for _, f := range h.GetHeaders().GetHeaders() {
		name, value := strings.ToLower(f.GetKey()), valueOf(f)
		if name == ":status" {
			r.status, _ = strconv.Atoi(value) // 0 is no status
			continue
		}
		if _, again := r.fields[name]; !again {
			r.fields[name] = value
			r.names = append(r.names, name)
		}
	}
	if r.status < 100 || r.status > 999 {
		return nil, fmt.Errorf("%w: no status", engine.ErrProtocol)
	}
	if h.GetEndOfStream() {
		r.err = io.EOF
	}
	return r, nil
}

// Status implements engine.Head.
func (r *response) Status() int { return r.status }

// Header implements engine.Head.
func (r *response) Header(name string) string { return r.fields[strings.ToLower(name)] }

// Feed implements engine.Body.
func (r *response) Feed(sink engine.Sink) error {
	for r.err == nil {
		if more, err := sink.Pause(); err != nil || !more {
			return err
		}
		piece, err := r.next(r.ctx)
		if err != nil {
			return err
		}
		if len(piece) == 0 {
			continue
		}
		if more, err := sink.Take(piece); err != nil || !more {
			return err
		}
	}
	return r.err
}

// next takes the next piece of the body, which may be empty, and notes its end.
func (r *response) next(ctx context.Context) ([]byte, error) {
	var until time.Time
	if r.idle > 0 {
		until = time.Now().Add(r.idle)
	}
	m, err := r.call.next(ctx, until)
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = r.silent()
		}
		r.err = err
		return nil, err
	}
	switch piece := m.GetResponseBody(); {
	case piece != nil:
		r.came += len(piece.GetBody())
		if piece.GetEndOfStream() {
			r.err = io.EOF
		}
		return piece.GetBody(), nil
	case m.GetResponseTrailers() != nil:
		r.err, r.tail = io.EOF, true
		return nil, nil
	}
	r.err = r.call.misplaced(m, "the answer's body")
	return nil, r.err
}

// mostUnread is how much of an answer a proxy takes from an engine for a client that reads nothing, at the least:
// Envoy's per_connection_buffer_limit_bytes is 1 MiB by default, and 32 KiB as gateways set it.
const mostUnread = 32 << 10

// silent returns what it is that nothing came for too long. Behind mostUnread it may be the client's doing, which the
// proxy does not tell: the call ends.
func (r *response) silent() error {
	if r.came < mostUnread {
		return fmt.Errorf("%w: nothing came", engine.ErrTimeout)
	}
	return r.call.fail(status.Error(codes.DeadlineExceeded, "no more of the answer came in time"))
}

// Carry implements engine.Body: no loop serves a call.
func (*response) Carry(engine.Sink, func(error)) bool { return false }

// SetIdle implements engine.Body.
func (r *response) SetIdle(d time.Duration) { r.idle = d }

// Close implements engine.Body. What is left of the answer is the proxy's.
func (r *response) Close() error {
	r.fields = nil
	return nil
}

// finish waits for the proper end of an answer that is whole already. It reports whether trailers were that end.
func (r *response) finish() (trailers bool, err error) {
	ctx, cancel := context.WithTimeoutCause(r.call.ctx, lastWait, engine.ErrTimeout)
	defer cancel()
	r.idle = 0
	for r.err == nil {
		if _, err := r.next(ctx); err != nil {
			return false, err
		}
	}
	if !errors.Is(r.err, io.EOF) {
		return false, r.err
	}
	return r.tail, nil
}
