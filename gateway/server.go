package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"octet/gateway/api"
	"octet/gateway/decide"
	"octet/gateway/dispatch"
	"octet/gateway/ensemble"
	"octet/gateway/escalate"
	"octet/gateway/fault"
	"octet/gateway/front"
	"octet/gateway/intake"
	"octet/gateway/live"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/gateway/seats"
	"octet/gateway/shadow"
	"octet/slo"
)

// Options are what a Server needs besides its Runtime.
type Options struct {
	Log        *slog.Logger
	Metrics    *metrics.Series
	Index      api.Index
	Knobs      *slo.Knobs
	Receipts   int              // kept a tenant
	Archive    *receipt.Archive // where they are kept as well; nil for nowhere
	Keys       int              // idempotency keys kept a tenant
	Claims     intake.Elsewhere // claims them among all gateways; nil where this one is the only one
	Via        string           // what this gateway calls itself to engines; a request that says so is refused
	AdminToken string
	AdminHosts []string // what the admin listener is called besides loopback names, in lower case
	Pprof      bool
	Live       live.Config                 // GET /admin/decisions; its Now is the server's
	Reload     func(context.Context) error // POST /admin/reload
	Finder     api.Finder                  // POST /admin/replicas; nil where all replicas are listed
	Leaving    api.Leaving                 // the replicas that a reload has taken out while requests were open there
	Now        func() time.Time            // default time.Now
	// GET /admin/doctor; nil: there is none
	Prefix    string        // of the ids of receipts, by which other gateways find this one; "" where it is alone
	Elsewhere api.Elsewhere // asks other gateways for receipts; nil where there is none
	Gateways  func() any    // GET /admin/gateways; nil: there is none
	Examine   func(context.Context) ([]api.Finding, error)
	Connects  func() api.Connects // GET /admin/findings; nil: there is none
	Front     front.Kind          // of the data listener
	TLS       *tls.Config         // of the data listener; nil means plain HTTP
	AdminTLS  *tls.Config         // of the admin listener, likewise
	Knowledge api.Knowledge       // nil: the admin listener tells the index alone
	Verifier  shadow.Verifier     // nil: verdicts come by POST /v1/outcomes alone
	Verifies  string              // the kind that the verifier's verdicts are published as

	Calibration shadow.Stream       // nil: what shadows come to is counted and not kept
	Digest      func([]byte) string // of texts in calibration records; required with Calibration
	Calibrated  api.Calibrated      // GET /admin/calibration; nil: nothing is kept for it
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
	runtime     atomic.Pointer[ensemble.Runtime]
	receipts    *receipt.Rings
	idempotency *intake.Idempotency
	shared      dispatch.Shared
	shadows     *shadow.Shadows
	audit       shadow.Audit
	probation   *slo.Probation
	escalation  escalate.Controller
	live        *live.Decisions
	started     time.Time
	proved      atomic.Bool // it was ready once: its engines answer it

	decider decide.Decider
	inbound intake.Arriving        // bodies on their way
	fronts  atomic.Pointer[fronts] // nil until it runs
	seats   *seats.Seats           // of the requests being answered
	bodies  intake.Memory          // of the bodies that they hold
	cutOff  context.Context
	cut     context.CancelCauseFunc
}

// New returns a Server for rt.
func New(rt *ensemble.Runtime, o Options) *Server {
	s := &Server{
		log: o.Log, metrics: o.Metrics, knobs: o.Knobs,
		options: o, via: o.Via, now: o.Now, probation: o.Probation,
		receipts: receipt.NewArchivedRings(o.Receipts, o.Archive), idempotency: intake.NewIdempotency(o.Keys, o.Claims),
	}
	s.escalation = escalate.Controller{Knobs: s.knobs, Log: s.log}
	wall := s.now == nil
	s.since = func(t time.Time) time.Duration { return s.now().Sub(t) }
	if wall {
		s.now, s.since = time.Now, time.Since // time.Since asks one clock, not two
	}
	s.options.Live.Now = s.now
	s.live, s.started = live.New(s.options.Live), s.now()
	s.seats = seats.New(s.now)
	retries := dispatch.NewBudget(s.seats.Open)
	s.shared = dispatch.Shared{Retries: retries, Again: func() bool { return retries.Take(s.now()) },
		Metrics: o.Metrics, WallClock: wall, Newest: s.runtime.Load, Began: s.now().Add(-time.Hour)}
	s.cutOff, s.cut = context.WithCancelCause(context.Background())
	if s.probation == nil {
		s.probation = slo.NewProbation(true)
	}
	s.decider = decide.Decider{Conversations: decide.NewConversations(rt.Stickiness.Conversations),
		Probation: s.probation, Clock: s}
	records := shadow.NewRecords(o.Calibration, s.now)
	s.audit = shadow.Audit{Verifier: o.Verifier, Kind: o.Verifies, Rings: s.receipts, Now: s.now,
		Verdicts: &shadow.Verdicts{Probation: s.probation, Records: records, Log: s.log}}
	s.shadows = shadow.New(shadow.Config{
		Comparer: &shadow.Comparer{Records: records, Metrics: s.metrics, Digest: o.Digest},
		Audit:    &s.audit, Metrics: s.metrics, Now: s.now, Draining: s.seats.Draining})
	s.metrics.Register(
		api.Gauges{Current: s.Runtime, Index: o.Index, Open: s.seats.Open,
			Budget: func() int64 { return retries.Left(s.now()) }},
		api.SLOGauges{Current: s.Runtime, Knobs: s.knobs, Now: s.now},
		connections{s.fronts.Load})
	s.Serve(rt)
	return s
}

// Conversations are what is remembered of which specialist answers each.
func (s *Server) Conversations() *decide.Conversations { return s.decider.Conversations }

// KeyOpen returns true if a request under a tenant's Idempotency-Key is being answered here.
func (s *Server) KeyOpen(tenant, key string) bool { return s.idempotency.Open(tenant, key) }

// Serve swaps in rt for all requests from now on.
func (s *Server) Serve(rt *ensemble.Runtime) {
	rt.Connect(s.knobs, s.metrics)
	s.escalation.Adopt(rt)
	s.shared.Retries.Set(rt.Limits.RetryBudget, rt.Limits.RetryBurst)
	s.decider.Conversations.Resize(rt.Stickiness.Conversations)
	s.runtime.Store(rt)
	s.fronts.Load().bound(&rt.Limits)
}

// Escalate sets the knobs of all specialists by their pressure. It is to be called often, by one goroutine.
func (s *Server) Escalate(now time.Time) { s.escalation.Observe(s.runtime.Load(), now) }

// Runtime returns what is served now.
func (s *Server) Runtime() *ensemble.Runtime { return s.runtime.Load() }

// Run serves both listeners until ctx ends, then drains: new requests are refused, open ones have limits.drain to
// finish, what is left then ends with a typed error. It returns nil after a clean drain.
func (s *Server) Run(ctx context.Context, data, admin net.Listener) error {
	defer s.shadows.Close()
	s.shadows.Run(func() time.Duration { return s.Runtime().Shadow.TallyInterval })
	cfg := s.frontConfig()
	f := &fronts{cfg: cfg, data: front.Data(cfg, s.DataHandler()), admin: front.Admin(cfg, s.AdminHandler()),
		set: [2]int{cfg.Limits.Connections, cfg.Limits.PerAddress}}
	s.fronts.Store(f)
	f.bound(&s.runtime.Load().Limits) // they may have changed meanwhile
	l := &front.Listeners{Data: f.data, Admin: f.admin, Log: s.log}
	err := l.Serve(ctx, data, admin)
	grace := s.runtime.Load().Limits.Drain
	s.seats.Drain(s.now().Add(grace))
	s.log.Info("draining", "open", s.seats.Open(), "grace", grace)
	return errors.Join(err, l.Drain(grace, openRequests{s}))
}

// openRequests are the requests that a drain waits for.
type openRequests struct{ s *Server }

// Ended returns true if no request is open, and none has its body on the way. From then on none begins.
func (o openRequests) Ended() bool { return o.s.seats.Shut(o.s.inbound.Count) }

// Cut ends the requests that are open, each with a typed error.
func (o openRequests) Cut() {
	o.s.log.Warn("drain: the grace is over", "open", o.s.seats.Open())
	o.s.cut(fault.ErrDrained)
}

// Open returns how many requests are open.
func (s *Server) Open() int64 { return s.seats.Open() }

// Inbound returns how many bodies are on their way: their heads were read, and they are not whole yet.
func (s *Server) Inbound() int { return int(s.inbound.Count()) }

// InboundBytes returns what was received of them.
func (s *Server) InboundBytes() int64 { return s.inbound.Bytes() }

// Now returns the time by the server's clock.
func (s *Server) Now() time.Time { return s.now() }
