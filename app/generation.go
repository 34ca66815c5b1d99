package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/app/discovery"
	"octet/app/fabric"
	"octet/app/peering"
	"octet/app/pipeline"
	"octet/calibration"
	"octet/classifier/remote"
	"octet/config"
	"octet/engine/tokenizers"
	"octet/gateway"
	"octet/gateway/ensemble"
	"octet/gateway/front"
	"octet/gateway/live"
	"octet/gateway/trace/otlp"
	"octet/slo"
)

// generation is what one configuration becomes.
type generation struct {
	listed    *config.Config // as it was given
	plan      *discovery.Plan
	cfg       *config.Config // with the replicas that were found
	found     *config.Config // with the kinds that engines have told
	runtime   *ensemble.Runtime
	outside   *remote.Service              // nil if no classifier is out of process
	traces    *otlp.Exporter               // nil if requests are not traced
	pipelines map[string]pipeline.Pipeline // by specialist
	boards    map[string]board             // by specialist
	edition   *tokenizers.Edition
	locals    map[string]*tokenizers.Local // by specialist
	replicas  map[string]*replica          // by name
}

// Apply makes cfg what is served from now on, or returns why it cannot be, with nothing changed. New replicas for which
// no slot is free yet join as slots are swept.
func (a *App) Apply(ctx context.Context, cfg *config.Config) error {
	a.buildMu.Lock()
	defer a.buildMu.Unlock()
	listed := discovery.Listed(cfg)
	err := a.apply(ctx, listed)
	if errors.Is(err, fabric.ErrFull) { // an engine has told another kind meanwhile, and needs another slot
		err = a.apply(ctx, listed)
	}
	if err == nil && a.discovered.plan.Load().Again > 0 {
		discovery.Poke(a.discovered.changed)
	}
	return err
}

// declared returns a replica of the configuration in force and its specialist; nil if it has none of that name.
func (a *App) declared(replica string) (*config.Specialist, *config.Replica) {
	return find(a.Config(), replica)
}

// apply makes a generation of what is listed and what was found. It needs buildMu.
func (a *App) apply(ctx context.Context, listed *config.Config) error {
	plan := a.discovered.planned(listed)
	g, err := a.build(ctx, plan.Config)
	if err != nil {
		return err
	}
	g.listed, g.plan = listed, plan
	gone := a.commit(g)
	a.replicas.retire(gone)
	a.Log.Info("configuration in force", "generation", g.runtime.Generation, "specialists", len(g.runtime.Specialists),
		"replicas", len(g.replicas))
	return nil
}

// build makes the generation of cfg. On an error nothing has changed.
func (a *App) build(ctx context.Context, cfg *config.Config) (*generation, error) {
	g := &generation{cfg: cfg, found: a.identities.resolve(ctx, cfg), edition: a.tokens.Edition()}
	var err error
	if g.outside, err = a.outside.serviceOf(cfg); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if g.runtime, err = a.sections(g.found, g.outside); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if g.traces, err = a.tracing.exporterOf(&cfg.Tracing); err != nil {
		return nil, fmt.Errorf("%w: tracing: %w", ErrConfig, err)
	}
	g.runtime.Tracer = tracerOf(&cfg.Tracing, g.traces)
	if g.pipelines, err = a.specialists.pipelinesOf(g.found, g.edition); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if g.locals, err = loadLocals(g.found, a.tokens.LocalOf); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if _, err := slo.NewKnobs(nil, knobs(cfg)...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	g.boards = a.history.boardsOf(g.found)
	g.runtime.Specialists = a.specialists.of(g.found, g.pipelines, g.boards)
	g.replicas, err = a.replicas.reconcile(ctx, g.found)
	return g, err
}

// sections returns a Runtime with the sections of cfg that concern neither specialists nor replicas.
func (a *App) sections(cfg *config.Config, outside *remote.Service) (*ensemble.Runtime, error) {
	rt := &ensemble.Runtime{Intents: intentNames(cfg), Judges: judgesOf(cfg), Origins: cfg.Auth.Origins,
		Limits: limits(cfg), ReadyWhen: cfg.Fleet.ReadyWhen, Probation: probationOf(cfg), Stickiness: stickinessOf(cfg)}
	var err error
	if rt.Shadow, err = shadowOf(cfg); err != nil {
		return nil, fmt.Errorf("shadow.judge: %w", err)
	}
	if rt.Cascade, err = newCascade(cfg, outside, a.series); err != nil {
		return nil, err
	}
	rt.Tenants, err = a.tenancy.tenants(cfg)
	return rt, err
}

// commit puts a generation in force. It cannot fail. It returns the replicas that have no place in it.
func (a *App) commit(g *generation) (gone []*replica) {
	a.defineKnobs(g.cfg)
	a.outside.commit(g.outside, g.cfg)
	a.tracing.commit(g.traces)
	a.identities.keep(g.cfg)
	a.identities.commit(g.found, g.replicas)
	a.specialists.pipelines.Store(&g.pipelines)
	now := time.Now()
	a.history.commit(g.boards, now)
	a.generation++
	g.runtime.Generation = a.generation
	for _, r := range g.replicas {
		g.runtime.Replicas[r.served.Host] = r.served
		a.identities.warnOf(r.key)
	}
	a.replicas.guard.Allow(g.cfg.Fleet.Allowed())
	a.replicas.fleet.Reconfigure(termsOf(g.cfg))
	a.watched.change(g.cfg.Fleet)
	gone = a.replicas.commit(g.replicas)
	a.fabric.Commit(fabricGeneration(g))
	g.edition.Commit(tokenizerSpecs(g, a.fabric.Scheme), int(g.found.Limits.TokenizerCache))
	a.keepers.commit(g.found, g.replicas)
	a.keepers.versions(g.runtime.Specialists)
	a.keepers.numbers(g.replicas)
	a.hold(g)
	g.runtime.Seal()
	a.history.probation.Declare(now, a.keepers.terms(g.cfg)...)
	a.revisions.commit(g.cfg, now)
	a.certificates.commit(g.replicas, issuerFiles(g.cfg.Auth.JWT))
	a.gateways.serve(g.replicas)
	a.cfg.Store(g.cfg)
	a.listed = g.listed
	a.discovered.sources.Follow(g.listed)
	a.discovered.mark(g.plan)
	a.tenancy.commit(g.cfg, g.runtime.Tenants)
	a.history.saveProbation(g.cfg)
	if a.server == nil {
		a.server = gateway.New(g.runtime, a.serverOptions(g.cfg))
		a.gateways.shareConversations(a.server)
	} else {
		a.server.Serve(g.runtime)
	}
	a.sleepers.LookAll()
	return gone
}

func (a *App) serverOptions(cfg *config.Config) gateway.Options {
	o := gateway.Options{
		Log: a.Log, Metrics: a.series.gateway, Index: a.fabric.Index(), Knowledge: a.fabric, Knobs: a.history.knobs,
		Receipts: cfg.Limits.Receipts, Archive: a.archive, Keys: cfg.Limits.IdempotencyKeys,
		Via: a.replicas.via, AdminToken: cfg.Admin.Token, AdminHosts: adminHosts(cfg), Pprof: cfg.Admin.Pprof,
		Digest: a.digest, Probation: a.history.probation, Finder: registry{a},
		Examine: a.Examine, Connects: a.connects.read,
		Front: front.Kind(cfg.Front), TLS: a.certificates.data(), AdminTLS: a.certificates.admin(),
		Leaving: a.replicas.leaving.open,
		Live:    live.Config{PerSecond: cfg.Admin.Decisions.PerSecond, Watchers: cfg.Admin.Decisions.Readers},
	}
	if a.Source.Path != "" {
		o.Reload = a.Reload
	}
	if a.verifier != nil {
		o.Verifier, o.Verifies = a.verifier, cfg.Outcomes.Verifier.Kind
	}
	if group := a.gateways.group; group != nil {
		o.Prefix, o.Elsewhere = group.Name()+peering.Separator, group
		o.Gateways = func() any { return group.State() }
		if cfg.Gateways.Keys > 0 {
			o.Claims = group
		}
	}
	if a.examples != nil {
		o.Calibration = a.examples
	}
	if cfg.Shadow.Recent > 0 {
		recent := recentRecords{calibration.NewRecent(cfg.Shadow.Recent), a.examples}
		o.Calibration, o.Calibrated = recent, recent
	}
	return o
}

// fabricGeneration is a generation as the fabric takes it.
func fabricGeneration(g *generation) fabric.Generation {
	out := fabric.Generation{
		Replicas: make(map[string]fabric.Replica, len(g.replicas)),
		GuessFor: g.found.Events.Approximate.TTL, BindFor: g.found.Events.BindFor, Salts: salts(g.found),
		TrustFor: g.found.Events.TrustFor, ExcludeAfter: g.found.Events.ExcludeAfter,
	}
	for name, r := range g.replicas {
		out.Replicas[name] = fabric.Replica{
			Name: name, Specialist: r.key.specialist, URL: r.key.url, APIKey: r.key.apiKey,
			Rank: r.key.rank.Pointer(), RankHeader: r.served.Kind.Ranks.Header,
			Host: r.served.Host, Blocks: r.blocks, BlockSize: r.key.blockSize,
			Events: r.events, Hashes: r.hashes, Named: r.key.scheme != fabric.Hashes{},
			TellsSalt: r.served.Kind.TakesSalt,
		}
	}
	return out
}
