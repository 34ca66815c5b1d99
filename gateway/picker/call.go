package picker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	modes "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"octet/gateway/ensemble"
	"octet/gateway/intake"
)

// call is one stream of the protocol. The goroutine of its line alone takes its messages and sends; receive hands one
// message over at a time, so that the proxy is held back while the line is busy.
type call struct {
	stream grpc.BidiStreamingServer[extproc.ProcessingRequest, extproc.ProcessingResponse]
	ctx    context.Context // ends with the call, and as the proxy gives it up
	cancel context.CancelFunc
	in     chan *extproc.ProcessingRequest
	reads  deadline      // of the request's body
	stuck  chan struct{} // closed once a write has waited for too long
	stick  sync.Once

	names    []string      // of the request's fields, in lower case
	keeps    bool          // the body is kept as it came, for pass
	kept     [][]byte      // of it
	held     *atomic.Int64 // bytes that all calls keep
	mostHeld int64         // of them; zero means no limit
	patience time.Duration // with the proxy as it accepts what is sent; zero means no limit
	whole    bool          // all of the body is here
	trailers bool          // and trailers came behind it

	via     string            // this gateway's name
	replica *ensemble.Replica // whose endpoint the proxy was told; nil before
	answers *response         // of the engine; nil before its head
	failing error             // the status of a call that ends for what the proxy did; nil while there is none
}

func (p *Picker) newCall(
	stream grpc.BidiStreamingServer[extproc.ProcessingRequest, extproc.ProcessingResponse]) *call {
	c := &call{stream: stream, in: make(chan *extproc.ProcessingRequest), stuck: make(chan struct{}),
		via: p.cfg.Via, keeps: p.cfg.Endpoint != nil, held: &p.kept, reads: deadline{moved: make(chan struct{}, 1)}}
	if p.cfg.WriteTimeout != nil {
		c.patience = p.cfg.WriteTimeout()
	}
	if p.cfg.MostKept != nil {
		c.mostHeld = p.cfg.MostKept()
	}
	c.ctx, c.cancel = context.WithCancel(stream.Context())
	return c
}

// receive hands messages over until the call or the proxy's side of it ends. That the proxy closes its side before the
// answer is whole says that the client has left.
func (c *call) receive() {
	for whole := false; ; {
		m, err := c.stream.Recv()
		if err != nil {
			if !whole || !errors.Is(err, io.EOF) {
				c.cancel()
			}
			return
		}
		select {
		case c.in <- m:
			whole = endsAnswer(m)
		case <-c.ctx.Done():
			return
		}
	}
}

// endsAnswer returns true for the last message of an engine's answer.
func endsAnswer(m *extproc.ProcessingRequest) bool {
	return m.GetResponseHeaders().GetEndOfStream() || m.GetResponseBody().GetEndOfStream() ||
		m.GetResponseTrailers() != nil
}

// next returns the next message. The error is ctx's, or os.ErrDeadlineExceeded at until; zero means no limit.
func (c *call) next(ctx context.Context, until time.Time) (*extproc.ProcessingRequest, error) {
	d := deadline{at: until}
	return c.nextBy(ctx, &d)
}

func (c *call) nextBy(ctx context.Context, d *deadline) (*extproc.ProcessingRequest, error) {
	for {
		late, stop := d.timer()
		m, again, err := c.await(ctx, late, d.moved)
		stop()
		if !again {
			return m, err
		}
	}
}

// await takes one message; again says that the deadline was moved first.
func (c *call) await(ctx context.Context, late <-chan time.Time, moved <-chan struct{}) (m *extproc.ProcessingRequest,
	again bool, err error) {
	select {
	case m = <-c.in:
		return m, false, nil
	case <-ctx.Done():
		return nil, false, ended(ctx)
	case <-c.ctx.Done():
		return nil, false, ended(c.ctx)
	case <-late:
		return nil, false, os.ErrDeadlineExceeded
	case <-moved:
		return nil, true, nil
	}
}

// ended returns the error of a context that has ended, and its cause.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// begin takes the head of the request. The error is a status of the call.
func (c *call) begin() (*http.Request, intake.Among, error) {
	m, err := c.next(c.ctx, time.Now().Add(firstWait))
	if err != nil {
		return nil, nil, status.FromContextError(err).Err()
	}
	if p := m.GetProtocolConfig(); p != nil {
		const both = modes.ProcessingMode_FULL_DUPLEX_STREAMED
		if p.GetRequestBodyMode() != both || p.GetResponseBodyMode() != both {
			return nil, nil, status.Error(codes.FailedPrecondition, "processing_mode: request_body_mode and "+
				"response_body_mode must be FULL_DUPLEX_STREAMED")
		}
	}
	h := m.GetRequestHeaders()
	if h == nil {
		return nil, nil, status.Errorf(codes.InvalidArgument, "%T before the request's head", m.GetRequest())
	}
	r, err := requestOf(c, h)
	if err != nil {
		return nil, nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return r, amongOf(m, r), nil
}

// misplaced ends the call for a message that came out of turn.
func (c *call) misplaced(m *extproc.ProcessingRequest, during string) error {
	return c.fail(status.Errorf(codes.InvalidArgument, "%T during %s", m.GetRequest(), during))
}

// fail ends the call with a status. Its line sees a client that has left: no replica is to be blamed for it.
func (c *call) fail(with error) error {
	c.failing = with
	c.cancel()
	return ended(c.ctx)
}

// suspect has the replica looked at, if the proxy gave the call up before the answer was whole: its client may have
// left, or the engine has died, which the proxy does not tell.
func (c *call) suspect() {
	if c.replica != nil && c.ctx.Err() != nil && c.failing == nil {
		c.replica.Fleet.ProbeSoon()
	}
}

// ended returns the status of a call whose line has ended with err.
func (c *call) ended(err error) error {
	switch {
	case c.failing != nil:
		return c.failing
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return status.FromContextError(c.ctx.Err()).Err()
	case errors.Is(err, errBroken):
		return status.Error(codes.Aborted, err.Error())
	}
	return err
}

// send sends one message; waiting for the proxy beyond until ends the call. Zero means as long as its patience lasts.
func (c *call) send(m *extproc.ProcessingResponse, until time.Time) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if until.IsZero() && c.patience > 0 {
		until = time.Now().Add(c.patience)
	}
	if !until.IsZero() {
		late := time.AfterFunc(time.Until(until), func() { c.stick.Do(func() { close(c.stuck) }) })
		defer late.Stop()
	}
	select {
	case <-c.stuck:
		return os.ErrDeadlineExceeded
	default:
	}
	err := c.stream.Send(m)
	select {
	case <-c.stuck:
		return os.ErrDeadlineExceeded
	default:
		return err
	}
}

// deadline bounds waits; the zero deadline bounds none. Safe for concurrent use.
type deadline struct {
	mu    sync.Mutex
	at    time.Time     // guarded by mu
	moved chan struct{} // of one: at has changed; nil if it never does
}

func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	d.at = at
	d.mu.Unlock()
	select {
	case d.moved <- struct{}{}:
	default: // the waiter looks at it anyway
	}
}

// timer returns a channel that tells when the deadline is over; nil without one. stop frees it.
func (d *deadline) timer() (late <-chan time.Time, stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(time.Until(d.at))
	return t.C, func() { t.Stop() }
}
