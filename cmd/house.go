package cmd

import (
	"context"
	crand "crypto/rand"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/adapters"
	"octet/calibration/records"
	"octet/config"
	"octet/gateway"
	"octet/gateway/ensemble"
	"octet/gateway/metrics"
	"octet/gateway/tenant"
	"octet/gateway/tenant/sharedrates"
	"octet/internal/contain"
	"octet/internal/dialing"
	"octet/internal/http1/poll"
	"octet/kvpool"
	"octet/routing/approx"
	"octet/routing/events"
	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/index/reference"
	"octet/routing/index/runs"
	"octet/routing/plugins"
	"octet/slo"
	"octet/slo/verify"
)

// house holds what lives longer than one generation of the configuration: the fleet, the index and its feed, the SLO
// windows, the operators' overrides. furnish makes a Runtime of a configuration and moves replicas in and out.
type house struct {
	log       *slog.Logger
	metrics   *metrics.Series
	routes    *routeMetrics
	patterns  atomic.Pointer[map[string]pattern] // by specialist; replaced whole
	started   time.Time
	hasher    kvpool.Hasher
	index     index.Indexer
	beliefs   *beliefs
	sessions  *plugins.Sessions
	feed      *events.Feed
	sockets   *sockets
	loops     poll.Loops // that carry open streams
	schemes   schemes
	shared    atomic.Pointer[map[string]supply] // sources of events that all replicas share; nil until background
	verifier  *verify.Verifier                  // nil where no answers are judged here
	sharing   tenant.Sharing                    // of tenants' rates
	rates     *sharedrates.Rates                // nil where they are counted here alone
	web       *http.Client                      // to engines' and peers' snapshots
	fleet     *fleet.Fleet
	residency *adapters.Residency
	// identities is what engines have said of themselves.
	identities *identities
	contexts   sync.Map // of *atomic.Int64: tokens that a request may hold, by specialist
	knobs      *slo.Knobs
	targets    atomic.Pointer[map[string]events.Target] // by replica name; replaced whole
	tokens     *tokenizers
	weights    atomic.Pointer[map[string]int] // of tenants' shares; replaced whole
	outcomes   *prometheus.CounterVec         // of the classifier
	examples   *records.Stream                // the calibration stream; nil where there is none
	probation  *slo.Probation

	via   string // what this gateway calls itself to engines
	drawn []byte // the secret of salts where the configuration has none

	mu         sync.Mutex // one furnish at a time; guards all below
	cfg        *config.Config
	generation uint64
	residents  map[string]*resident // by replica name
	boards     map[string]board     // by specialist
	books      map[string]books     // likewise
	tenants    *tenant.Table
	server     *gateway.Server // nil until the first Runtime is served

	reload func(context.Context) error // nil where there is no file; set before apply
	dial   dialer                      // to engines; nil is TCP. Set before apply
}

type board struct {
	shape config.SLO
	board *slo.Board
	load  *slo.Escalation
}

// newIndex returns the block index that events.index names.
func newIndex(kind string, c index.Config) (index.Indexer, error) {
	if kind == "sharded" {
		return reference.New(c)
	}
	return runs.New(c)
}

func newHouse(cfg *config.Config, log *slog.Logger) (*house, error) {
	account := index.NewAccount(int64(cfg.Events.IndexMemory))
	x, err := newIndex(cfg.Events.Index, index.Config{Account: account})
	if err != nil {
		return nil, err
	}
	hasher := kvpool.NewHasher(hashSeed(cfg))
	h := &house{
		log: log, metrics: metrics.New(version, commit, buildRef), routes: newRouteMetrics(),
		started: time.Now(),
		hasher:  hasher, index: x, sessions: plugins.NewSessions(0),
		fleet: fleet.New(fleet.WithBreaker(breakerConfig(cfg)), fleet.WithDeathInterval(cfg.Fleet.DeathInterval),
			fleet.WithHealthChange(logsHealth(log))),
		residency: adapters.NewResidency(adapters.Bounds{}), tokens: newTokenizers(hasher), outcomes: newOutcomes(),
		loops: poll.Loops{Panics: contain.Report},
		via:   crand.Text(), drawn: []byte(crand.Text()), residents: map[string]*resident{}, boards: map[string]board{},
		books: map[string]books{}, identities: newIdentities(), web: newWeb(),
	}
	h.metrics.Register(h.outcomes)
	guesses, err := approx.New(approx.Config{TTL: cfg.Events.Approximate.TTL, Blocks: cfg.Events.Approximate.Blocks})
	if err != nil {
		return nil, err
	}
	h.beliefs = newBeliefs(x, guesses, cfg.Events.Approximate.PredictTTL, &h.tokens.checks.differing)
	h.beliefs.cleared = h.cleared
	h.targets.Store(&map[string]events.Target{})
	h.weights.Store(&map[string]int{})
	h.patterns.Store(&map[string]pattern{})
	h.feed = events.NewFeed(h.beliefs, h.hasher, h.target)
	h.feed.SnapshotRoom(int64(cfg.Events.IndexMemory))
	h.feed.Within(account)
	h.sockets = &sockets{feed: h.feed, log: log, open: map[string]*socket{}}
	h.metrics.Register(tokenMetrics{h.tokens})
	h.metrics.Register(eventMetrics{h})
	h.metrics.Register(append(h.routes.collectors(), poolGauges{h.fleet, h.index, guesses, &h.patterns})...)
	if h.knobs, err = slo.NewKnobs(nil, knobs(cfg)...); err != nil {
		return nil, err
	}
	h.shareRates(cfg.Auth.Shared)
	if h.verifier, err = newVerifier(cfg, log); err != nil {
		return nil, err
	}
	return h, h.openCalibration(cfg)
}

// newWeb returns the client that asks engines and peers for snapshots. It follows no redirect: one would carry the key
// to where the configuration does not point.
func newWeb() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: (&net.Dialer{Control: dialing.Control}).DialContext}, CheckRedirect: stay}
}

// stay has a redirect be the answer.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// target says where the events of a replica belong.
func (h *house) target(replica string) (events.Target, bool) {
	t, ok := (*h.targets.Load())[replica]
	return t, ok
}

// apply makes cfg what is served from now on, or returns why it cannot be, with nothing changed.
func (h *house) apply(ctx context.Context, cfg *config.Config) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	rt, gone, err := h.furnish(ctx, cfg)
	if err != nil {
		return err
	}
	if err := h.knobs.Define(knobs(cfg)...); err != nil {
		return fmt.Errorf("%w: %w", errConfig, err)
	}
	h.probation.Declare(terms(cfg)...)
	h.cfg, h.tenants = cfg, rt.Tenants
	h.rememberProbation()
	weights := tenantWeights(cfg)
	h.weights.Store(&weights)
	if h.server != nil {
		h.server.Serve(rt)
	} else {
		h.server = gateway.New(rt, h.options(cfg))
	}
	h.moveOut(gone)
	h.log.Info("configuration in force", "generation", rt.Generation, "specialists", len(rt.Specialists), "replicas",
		len(h.residents))
	return nil
}

func (h *house) options(cfg *config.Config) gateway.Options {
	o := gateway.Options{
		Log: h.log, Metrics: h.metrics, Index: h.index, Knowledge: knowledge{h}, Knobs: h.knobs,
		Receipts: cfg.Limits.Receipts, Keys: cfg.Limits.IdempotencyKeys,
		Via: h.via, AdminToken: cfg.Admin.Token, AdminHosts: adminHosts(cfg), Pprof: cfg.Admin.Pprof, Reload: h.reload,
		Digest: digester(cfg.HashSeed), Probation: h.probation,
		Front: gateway.Front(cfg.Front),
	}
	if h.verifier != nil {
		o.Verifier = h.verifier
	}
	if h.examples != nil {
		o.Calibration = h.examples
	}
	return o
}

// furnish builds the Runtime of cfg and the residents that it needs. On an error nothing has changed: whatever can fail
// comes before whatever changes something.
func (h *house) furnish(ctx context.Context, cfg *config.Config) (*ensemble.Runtime, []*resident, error) {
	cfg = h.identify(ctx, cfg)
	rt := &ensemble.Runtime{Intents: intentNames(cfg), Judges: judgesOf(cfg), Origins: cfg.Auth.Origins,
		Limits: limits(cfg), ReadyWhen: cfg.Fleet.ReadyWhen, Probation: probationOf(cfg), Stickiness: stickinessOf(cfg)}
	var err error
	if rt.Shadow, err = shadowOf(cfg); err != nil {
		return nil, nil, fmt.Errorf("%w: shadow.judge: %w", errConfig, err)
	}
	if rt.Cascade, err = newCascade(cfg, h.outcomes); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errConfig, err)
	}
	if rt.Tenants, err = h.newTenants(cfg); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errConfig, err)
	}
	prompts := &edition{tokenizers: h.tokens}
	patterns, err := h.buildPatterns(cfg, prompts)
	if err != nil {
		return nil, nil, err
	}
	rt.Specialists = h.specialists(cfg, patterns)
	files, err := h.tokens.load(cfg)
	if err != nil {
		return nil, nil, err
	}
	staying, err := h.moveIn(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	h.measureContexts(cfg, staying)
	h.patterns.Store(&patterns)
	h.generation++
	rt.Generation = h.generation
	gone := h.settle(cfg, rt, staying)
	prompts.set(cfg, staying, files, &h.schemes)
	return rt.Seal(), gone, nil
}

// settle makes the residents of cfg those of the house and of rt, and returns those who have to go.
func (h *house) settle(cfg *config.Config, rt *ensemble.Runtime, staying map[string]*resident) (gone []*resident) {
	targets := make(map[string]events.Target, len(staying))
	h.beliefs.doubt(saltless(cfg, staying))
	for name, r := range staying {
		rt.Replicas[r.replica.Host] = r.replica
		h.warnOf(r.key)
		targets[name] = h.targetOf(cfg, name, r)
	}
	for name, r := range h.residents {
		if now := staying[name]; now == nil || now.replica.Host != r.replica.Host {
			gone = append(gone, r)
		}
	}
	for name, r := range staying {
		if old := h.residents[name]; old == nil || old.replica.Host != r.replica.Host {
			h.beliefs.begin(r.replica.Host, cfg.Events.Approximate.TTL, r.blocks)
		}
	}
	h.sockets.retire(staying) // before anything of theirs could reach another slot
	h.residents = staying
	h.targets.Store(&targets)
	h.sockets.follow(staying)
	return gone
}

// moveOut takes replicas out of the fleet and the index. Requests that run on them end where they are.
func (h *house) moveOut(gone []*resident) {
	for _, r := range gone {
		if h.residents[r.replica.Name] == nil {
			h.fleet.Remove(r.replica.Name)
			h.routes.forget(r.replica.Name)
		}
		h.forget(r)
	}
}

// forget frees a replica's slot in the index: at once for queries, in the background for memory.
func (h *house) forget(r *resident) {
	host := r.replica.Host
	h.feed.Forget(r.replica.Name)
	h.residency.Forget(uint16(host))
	h.index.Retire(host)
}

// close ends what the house holds on to. Nothing is served any more.
func (h *house) close() {
	for _, r := range h.residents {
		_ = r.client.Close() // idle connections only
	}
	if h.rates != nil {
		_ = h.rates.Close() // likewise
	}
	if h.examples != nil {
		if err := h.examples.Close(); err != nil {
			h.log.Warn("the calibration stream was not closed in order", "error", err)
		}
	}
	h.loops.Close()
	h.rememberProbation()
}

// jitter is in [0,1): it spreads retries and probes, and decides nothing else.
func jitter() float64 { return rand.Float64() }
