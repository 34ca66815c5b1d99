package picker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"octet/gateway/dispatch"
	"octet/gateway/intake"
	"octet/internal/contain"
)

// Line answers a request: by takes what is sent to the replica, which is one of among.
type Line func(w http.ResponseWriter, r *http.Request, by dispatch.Courier, among intake.Among)

// Config is what a Picker needs.
type Config struct {
	Line Line
	// Endpoint returns an endpoint, of those that are given, which may take a request, or "". Nil: a request that this
	// program fails with is answered 500; else it goes there, and its answer comes as the engine gave it.
	Endpoint func(among intake.Among) string
	Via      string // what this gateway calls itself to engines; empty tells nothing
	// WriteTimeout returns how long the proxy may take to accept what is sent; nil and zero mean no limit.
	WriteTimeout func() time.Duration
	// MostKept returns how many bytes of bodies, of all requests, are kept for Endpoint: a request beyond it is not
	// sent there. Nil and zero mean no limit.
	MostKept func() int64
	// Ready reports whether requests can be served, or could be before; nil: they can. Until then the service of health
	// says that this one does not serve.
	Ready   func() bool
	Options []grpc.ServerOption
}

// What a proxy that does not speak may cost.
const (
	firstWait = 10 * time.Second // for the head of a request
	lastWait  = 5 * time.Second  // for the end of an answer that is whole already
	idleAfter = 30 * time.Second
	goneAfter = 10 * time.Second
	endWait   = lastWait + 2*time.Second // for calls whose requests have ended
	mostBytes = 4 << 20                  // in one message
)

// Picker is the server of the protocol.
type Picker struct {
	extproc.UnimplementedExternalProcessorServer
	cfg     Config
	running sync.WaitGroup // what calls have begun; they outlive their handlers for a moment
	kept    atomic.Int64   // bytes of bodies
}

// New returns a Picker.
func New(cfg Config) *Picker { return &Picker{cfg: cfg} }

// Serve answers on l, which it closes, until ctx ends; then it says that it is not serving, and refuses nothing: that
// is the line's. It returns once done is closed and all calls have ended, or with the error of l.
func (p *Picker) Serve(ctx context.Context, l net.Listener, done <-chan struct{}) error {
	options := append([]grpc.ServerOption{grpc.WaitForHandlers(true), grpc.MaxRecvMsgSize(mostBytes),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: idleAfter, Timeout: goneAfter}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: goneAfter, PermitWithoutStream: true}),
	}, p.cfg.Options...)
	server, well := grpc.NewServer(options...), health.NewServer()
	extproc.RegisterExternalProcessorServer(server, p)
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	healthpb.RegisterHealthServer(server, healths{well, stopping})
	var serving sync.WaitGroup
	p.announce(stopping, &serving, well)
	failed := make(chan error, 1)
	serving.Go(func() { failed <- server.Serve(l) })
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		well.Shutdown()
		<-done
	}
	stop()
	end(server)
	serving.Wait()
	p.running.Wait()
	if err != nil {
		return fmt.Errorf("picker: %w", err)
	}
	return nil
}

// end stops the server behind the calls that have begun: the last request of a drain has ended before the proxy is sent
// the end of its answer.
func end(server *grpc.Server) {
	late := time.AfterFunc(endWait, server.Stop)
	defer late.Stop()
	server.GracefulStop()
}

// Process implements the protocol: one call is one request and its answer.
func (p *Picker) Process(stream grpc.BidiStreamingServer[extproc.ProcessingRequest, extproc.ProcessingResponse]) error {
	c := p.newCall(stream)
	defer c.cancel()
	p.running.Go(c.receive)
	r, among, err := c.begin()
	if err != nil {
		return err
	}
	answered := make(chan error, 1)
	p.running.Go(func() { answered <- p.answer(c, r, among) })
	select {
	case err := <-answered:
		return err
	case <-c.stuck: // its goroutine waits in a write, which ends as the call does
		return status.Error(codes.DeadlineExceeded, "the answer was not taken in time")
	}
}

// answer has the line answer one request.
func (p *Picker) answer(c *call, r *http.Request, among intake.Among) (err error) {
	defer c.forget()
	defer c.suspect()
	w := &writer{call: c, header: http.Header{}}
	if err = p.drive(w, r, among); err != nil {
		return c.ended(err)
	}
	open := c.keeps && w.status == http.StatusInternalServerError && c.replica == nil
	if open {
		if at := p.cfg.Endpoint(among); at != "" {
			return c.ended(c.pass(at))
		}
	}
	return c.ended(w.end())
}

// errBroken is an answer that ends without its proper end.
var errBroken = errors.New("picker: the answer broke")

// drive runs the line. A panic of it fails this request alone.
func (p *Picker) drive(w *writer, r *http.Request, among intake.Among) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if cause, is := v.(error); !is || !errors.Is(cause, http.ErrAbortHandler) {
			contain.Note(contain.Request, v, "request_id", r.Header.Get("X-Request-Id"))
			if w.status == 0 {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
		}
		err = errBroken
	}()
	p.cfg.Line(w, r, w.call, among)
	return nil
}
