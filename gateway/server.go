package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"octet/gateway/api"
	"octet/gateway/decide"
	"octet/gateway/ensemble"
	"octet/gateway/escalate"
	"octet/gateway/front"
	"octet/gateway/intake"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/gateway/shadow"
	"octet/scheduler/gate"
	"octet/slo"
)

// Options are what a Server needs besides its Runtime.
type Options struct {
	Log        *slog.Logger
	Metrics    *metrics.Series
	Index      api.Index
	Knobs      *slo.Knobs
	Receipts   int    // kept a tenant
	Keys       int    // idempotency keys kept a tenant
	Via        string // what this gateway calls itself to engines; a request that says so is refused
	AdminToken string
	AdminHosts []string // what the admin listener is called besides loopback names, in lower case
	Pprof      bool
	Reload     func(context.Context) error // POST /admin/reload
	Now        func() time.Time            // default time.Now
	Front      front.Kind                  // of the data listener
	Knowledge  api.Knowledge               // nil: the admin listener tells the index alone
	Verifier   shadow.Verifier             // nil: verdicts come by POST /v1/outcomes alone

	Calibration shadow.Stream       // nil: what shadows come to is counted and not kept
	Digest      func([]byte) string // of texts in calibration records; required with Calibration
	Probation   *slo.Probation      // nil: nothing is on probation
}

// Server answers both listeners. It serves the newest Runtime; requests in flight keep theirs.
type Server struct {
	options     Options
	log         *slog.Logger
	metrics     *metrics.Series
	knobs       *slo.Knobs
	via         string
	now         func() time.Time
	since       func(time.Time) time.Duration // now, less
	ownClock    bool                          // now is time.Now
	runtime     atomic.Pointer[ensemble.Runtime]
	receipts    *receipt.Rings
	idempotency *intake.Idempotency
	retries     *retryBudget
	again       func() bool // takes from retries
	shadows     shadows
	audit       shadow.Audit
	probation   *slo.Probation
	escalation  escalate.Controller

	decider   decide.Decider
	draining  atomic.Bool
	shut      atomic.Bool     // no request begins any more
	inbound   intake.Arriving // bodies on their way
	drained   atomic.Int64    // when the drain is over at the latest, ns since began; 0 before it has begun
	seats     seats
	open      atomic.Int64  // requests being answered
	bodies    intake.Memory // of the bodies that they hold
	began     time.Time     // an hour before it did: the first decisions are timed
	cutOff    context.Context
	cut       context.CancelCauseFunc
	listeners sync.WaitGroup
}

// New returns a Server for rt.
func New(rt *ensemble.Runtime, o Options) *Server {
	s := &Server{
		log: o.Log, metrics: o.Metrics, knobs: o.Knobs,
		options: o, via: o.Via, now: o.Now, probation: o.Probation,
		receipts: receipt.NewRings(o.Receipts), idempotency: intake.NewIdempotency(o.Keys),
	}
	s.escalation = escalate.Controller{Knobs: s.knobs, Log: s.log}
	s.retries = newRetryBudget(&s.open)
	s.since = func(t time.Time) time.Duration { return s.now().Sub(t) }
	if s.now == nil {
		s.now, s.since, s.ownClock = time.Now, time.Since, true // time.Since asks one clock, not two
	}
	s.began = s.now().Add(-time.Hour)
	s.again = func() bool { return s.retries.take(s.now()) }
	s.cutOff, s.cut = context.WithCancelCause(context.Background())
	if s.probation == nil {
		s.probation = slo.NewProbation()
	}
	s.seats.away = gate.NewBook(retryGrain)
	s.decider = decide.Decider{Conversations: decide.NewConversations(rt.Stickiness.Conversations),
		Probation: s.probation, Clock: s}
	records := shadow.NewRecords(o.Calibration, s.now)
	s.audit = shadow.Audit{Verifier: o.Verifier, Rings: s.receipts, Now: s.now,
		Verdicts: &shadow.Verdicts{Probation: s.probation, Records: records, Log: s.log}}
	s.shadows.open(s, &shadow.Comparer{Records: records, Metrics: s.metrics, Digest: o.Digest})
	s.metrics.Register(
		api.Gauges{Current: s.Runtime, Index: o.Index, Open: s.open.Load,
			Budget: func() int64 { return s.retries.left(s.now()) }},
		api.SLOGauges{Current: s.Runtime, Knobs: s.knobs, Now: s.now})
	s.Serve(rt)
	return s
}

// Serve swaps in rt for all requests from now on.
func (s *Server) Serve(rt *ensemble.Runtime) {
	rt.Connect(s.knobs, s.metrics)
	s.escalation.Adopt(rt)
	s.retries.set(rt.Limits.RetryBudget, rt.Limits.RetryBurst)
	s.decider.Conversations.Resize(rt.Stickiness.Conversations)
	s.runtime.Store(rt)
}

// Escalate sets the knobs of all specialists by their pressure. It is to be called often, by one goroutine.
func (s *Server) Escalate(now time.Time) { s.escalation.Observe(s.runtime.Load(), now) }

// Runtime returns what is served now.
func (s *Server) Runtime() *ensemble.Runtime { return s.runtime.Load() }

// Run serves both listeners until ctx ends, then drains: new requests are refused, open ones have limits.drain to
// finish, what is left then ends with a typed error. It returns nil after a clean drain.
func (s *Server) Run(ctx context.Context, data, admin net.Listener) error {
	defer s.shadows.close()
	s.shadows.running.Go(func() {
		s.shadows.comparer.Records.Run(s.shadows.ctx, func() time.Duration { return s.Runtime().Shadow.TallyInterval })
	})
	cfg := s.frontConfig()
	servers := []front.Server{front.Data(cfg, s.DataHandler()), front.Admin(cfg, s.AdminHandler())}
	failed := make(chan error, len(servers))
	for i, l := range []net.Listener{data, admin} {
		s.listeners.Go(func() { failed <- servers[i].Serve(l) })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("gateway: listener failed: %w", err)
	}
	return errors.Join(err, s.drain(servers))
}

// frontConfig returns what both listeners' servers need, by the Runtime of now.
func (s *Server) frontConfig() *front.Config {
	rt, replicas := s.runtime.Load(), 0
	for _, rep := range &rt.Replicas {
		if rep != nil {
			replicas++
		}
	}
	l := &rt.Limits
	return &front.Config{
		Kind: s.options.Front, Base: s.cutOff, Replicas: replicas, Log: s.log, Refuse: s.reject, NewID: intake.NewID,
		Limits: front.Limits{
			HeaderTimeout: l.HeaderTimeout, KeepaliveTimeout: l.KeepaliveTimeout, WriteTimeout: l.WriteTimeout,
			HeaderBytes: l.HeaderBytes, HeaderFields: l.HeaderFields,
			Connections: l.Connections, PerAddress: l.ConnectionsPerAddress,
		},
	}
}

// drain is the orderly end. The admin listener stays up until the data listener is done.
func (s *Server) drain(servers []front.Server) error {
	grace := s.runtime.Load().Limits.Drain
	s.drained.Store(int64(s.now().Add(grace).Sub(s.began)))
	s.draining.Store(true)
	s.log.Info("draining", "open", s.open.Load(), "grace", grace)
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := s.settle(ctx, servers[0])
	for _, server := range servers {
		err = errors.Join(err, server.Close())
	}
	s.listeners.Wait()
	return err
}

// settle waits for open requests. New ones on open connections are refused with `draining` meanwhile, and new
// connections too, so the listener is not closed before the last answer is out.
func (s *Server) settle(ctx context.Context, data front.Server) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !s.empty() {
		select {
		case <-ctx.Done():
			return s.cutOpen(data)
		case <-tick.C:
		}
	}
	return s.shutdown(data)
}

// empty reports whether no request is open or has its body on the way; from then on none begins.
func (s *Server) empty() bool {
	busy := func() bool { return s.open.Load() > 0 || s.inbound.Count() > 0 }
	if busy() {
		return false
	}
	s.shut.Store(true) // what comes to open now sees it, or is seen
	return !busy()
}

// lastWords is how long cut-off requests may take to tell their clients.
const lastWords = 2 * time.Second

func (s *Server) cutOpen(data front.Server) error {
	s.log.Warn("drain: the grace is over", "open", s.open.Load())
	s.cut(errDrained)
	return s.shutdown(data)
}

func (s *Server) shutdown(data front.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	err := data.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		// a client that takes no answer, or sends no body, does not make the drain a failure
		s.log.Warn("drain: connections are cut that did not end")
		return nil
	}
	return err
}

func (s *Server) logEnd(x *exchange, r *receipt.Result) {
	level := slog.LevelDebug
	if r.Status >= 500 || (r.Code != "" && x.relay.Begun() && r.Status == http.StatusOK) {
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !s.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", x.request.ID), slog.Int("status", r.Status), slog.String("code", r.Code),
		slog.Float64("ms", r.TotalMs),
		slog.Int("tokens", r.CompletionTokens), slog.Int("attempts", x.attempts),
	}
	if x.sp != nil {
		attrs = append(attrs, slog.String("specialist", x.sp.Name),
			slog.String("routed_by", x.decision.RoutedBy.String()))
	}
	if x.failure != nil && x.failure.Cause != nil {
		attrs = append(attrs, slog.String("cause", x.failure.Cause.Error()))
	}
	s.log.LogAttrs(ctx, level, "request", attrs...)
}

// Now returns the time by the server's clock.
func (s *Server) Now() time.Time { return s.now() }
