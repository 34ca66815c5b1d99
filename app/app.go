package app

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"octet/app/collectors"
	"octet/app/discovery"
	"octet/app/fabric"
	"octet/app/sleepers"
	"octet/calibration/records"
	"octet/config"
	"octet/engine"
	"octet/engine/tokenizers"
	"octet/gateway"
	"octet/gateway/metrics"
	"octet/gateway/receipt"
	"octet/internal/certs"
	"octet/internal/dialing"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/index"
	"octet/routing/peers"
	"octet/slo"
	"octet/slo/verify"
)

// ErrConfig is a configuration that parses but cannot be built.
var ErrConfig = fabric.ErrConfig

// Options are what no configuration says.
type Options struct {
	Log    *slog.Logger // nil means slog.Default()
	Build  Build
	Source Source          // where the configuration came from; the zero Source cannot be reloaded
	Dial   Dialer          // to engines; nil means TCP
	Events events.Consumer // brings the cache events instead of the configured sources; nil means those
	// RunProgram runs the program that wakes replicas of a specialist; nil runs it.
	RunProgram func(ctx context.Context, specialist string, argv []string) error
	// Reloading is called as a reload begins, and what it returns as it ends; nil means neither.
	Reloading func() (done func())
	// Link is how gateways reach each other instead of the configured store; nil means that
	Link peers.Link
	// Finders are the kinds of sources that discover may ask for, instead of those that there are; nil means those
	Finders []discovery.Kind
	// PickerTLS is the certificate of ServePicking's listener, and the authorities of those that may ask there; the
	// zero Files mean plain
	PickerTLS certs.Files
}

// Build says which program this is. What is empty is dev or unknown.
type Build struct{ Version, Commit, Ref string }

// Dialer connects to the engine at a URL.
type Dialer func(ctx context.Context, url string) (net.Conn, error)

// App is a gateway.
type App struct {
	Options
	fabric      *fabric.Fabric
	replicas    *replicas
	keepers     *keepers
	specialists *specialists
	sleepers    *sleepers.Sleepers
	tokens      *tokenizers.Tokenizers
	identities  *identities
	history     *history
	revisions   *revisions
	tenancy     *tenancy
	series      series
	discovered  *discovered
	watched     *watched
	examined    *examination
	connects    *connects
	gateways    membership
	examples    *records.Stream  // the calibration stream; nil without a sink
	archive     *receipt.Archive // receipts.file; nil without one
	tracing     *tracing
	verifier    *verify.Verifier // nil if answers are not judged here
	digest      func([]byte) string
	guard       *dialing.Guard // of connections to engines
	// of both listeners, and for connections to engines
	certificates *certificates
	begun        *config.Config // of the start, which sections that are read there only stay with

	cfg atomic.Pointer[config.Config] // in force, with the replicas that were found; nil before the first commit

	buildMu    sync.Mutex     // one generation is built at a time, which may wait for engines; guards all below
	listed     *config.Config // the configuration in force without the replicas that were found
	generation uint64
	outside    outside
	server     *gateway.Server // nil before the first commit; set once
	stop       func()          // ends what Start began; nil before Start
}

// series are the metrics that outlive generations.
type series struct {
	gateway    *metrics.Series
	routes     *collectors.Routes
	classified *prometheus.CounterVec
	outside    *prometheus.CounterVec // of the classifier out of process
}

// New returns a gateway whose first generation is committed. It serves nothing yet. Engines that do not answer have no
// more than a second or two to say what they are.
func New(ctx context.Context, cfg *config.Config, o Options) (*App, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Source.Engines == nil {
		o.Source.Engines = engine.AllKinds()
	}
	a := &App{Options: o, digest: digester(cfg.HashSeed), series: newSeries(o.Build), guard: new(dialing.Guard),
		examined: newExamination(), tracing: newTracing(o.Log, o.Build), begun: cfg}
	a.certificates = newCertificates(o.Log)
	if err := a.certificates.listen(cfg, o.PickerTLS); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	hasher := kvpool.NewHasher(fabric.HashSeed(cfg))
	a.tokens = tokenizers.New(hasher)
	var err error
	a.fabric, err = fabric.New(fabric.Config{Log: o.Log, Events: cfg.Events, Hasher: hasher,
		Differ: a.tokens.Checks().Differing, Cleared: a.cleared, Lives: lives{a}, Guard: a.guard,
		Secure: a.certificates.server(eventsTLS)})
	if err != nil {
		return nil, err
	}
	if err := a.openParts(cfg, hasher); err != nil {
		return nil, errors.Join(err, a.release())
	}
	a.register()
	if err := a.Apply(ctx, cfg); err != nil {
		return nil, errors.Join(err, a.release())
	}
	return a, nil
}

func newSeries(b Build) series {
	return series{metrics.New(cmp.Or(b.Version, "dev"), cmp.Or(b.Commit, "unknown"), cmp.Or(b.Ref, "unknown")),
		collectors.NewRoutes(), collectors.NewClassified(), collectors.NewClassifiedOutside()}
}

// openParts makes what outlives generations, after the fabric and the tokenizers.
func (a *App) openParts(cfg *config.Config, hasher kvpool.Hasher) (err error) {
	via := crand.Text()
	if a.history, err = newHistory(a.Log, cfg); err != nil {
		return err
	}
	if err = a.gateways.join(a, cfg, hasher); err != nil {
		return err
	}
	a.revisions = newRevisions(a.history)
	a.identities, a.watched = newIdentities(a, via), newWatched(cfg.Fleet)
	if a.tenancy, err = newTenancy(a.Log, cfg, a.certificates); err != nil {
		return err
	}
	if m := &a.gateways; m.group != nil {
		a.tenancy.tell(m.group.Used, &m.parts)
	}
	a.sleepers = newSleepers(a)
	a.replicas = newReplicas(cfg, a, via)
	a.discovered = newDiscovered(a)
	a.connects = newConnects(a)
	a.keepers = newKeepers(a.Log, a.replicas.residency)
	a.specialists = newSpecialists(a, hasher)
	if a.verifier, err = newVerifier(cfg, a.Log); err != nil {
		return err
	}
	if a.archive, err = openArchive(cfg, a.Log); err != nil {
		return err
	}
	a.examples, err = openCalibration(cfg)
	return err
}

// register has all metrics collected.
func (a *App) register() {
	m := a.series.gateway
	m.Register(a.series.classified, a.series.outside, collectors.Tokenizers{Of: a.tokens})
	m.Register(a.fabric.Collectors()...)
	m.Register(a.series.routes.Collectors()...)
	m.Register(collectors.Adapters{Of: a.keepers.all})
	m.Register(collectors.Pools{Fleet: a.replicas.fleet, Index: a.fabric.Index(), Guesses: a.fabric.Guesses(),
		Profiles: a.specialists.profiles})
	m.Register(collectors.Certificates{Read: a.certificates.read})
	m.Register(collectors.Sleepers{States: a.sleepers.States})
	m.Register(collectors.Discovery{Standings: a.discovered.standings,
		Plan: func() *discovery.Plan { return a.discovered.plan.Load() }})
	m.Register(collectors.Issuer{Verifier: a.tenancy.issuer.verifier.Load})
	if a.tenancy.rates != nil {
		m.Register(collectors.NewSharedRates(a.tenancy.rates.Away))
	}
	m.Register(collectors.Traces{Read: a.tracing.counts.Read})
	if a.examples != nil {
		m.Register(collectors.Records{Stream: a.examples})
	}
	if a.gateways.group != nil {
		m.Register(collectors.Gateways{Read: a.gateways.group.Read})
	}
	m.Register(collectors.Findings{Read: a.connects.read})
	if a.archive != nil {
		m.Register(collectors.Archive{Read: a.archive.Read})
	}
}

// Server returns what answers both listeners.
func (a *App) Server() *gateway.Server { return a.server }

// Fabric returns what the gateway knows of engines' caches.
func (a *App) Fabric() *fabric.Fabric { return a.fabric }

// Tokenizers returns what turns prompts into tokens.
func (a *App) Tokenizers() *tokenizers.Tokenizers { return a.tokens }

// Knobs returns the thresholds and floors that operators may override.
func (a *App) Knobs() *slo.Knobs { return a.history.knobs }

// Config returns the configuration in force. It waits for nothing.
func (a *App) Config() *config.Config { return a.cfg.Load() }

// cleared has the Gate of a replica forget what its engine's cache has lost.
func (a *App) cleared(id index.HostID) {
	if a.server == nil {
		return
	}
	if rep := a.server.Runtime().Replicas[id]; rep != nil && rep.Gate != nil {
		rep.Gate.Cleared()
	}
}

// release ends what is held outside of this process. Nothing is served any more.
func (a *App) release() error {
	if a.keepers != nil {
		a.keepers.close()
	}
	if a.replicas != nil {
		a.replicas.close()
	}
	if a.tenancy != nil {
		a.tenancy.close()
	}
	if a.outside.service != nil {
		a.outside.service.Close()
	}
	a.tracing.close()
	var err error
	if a.examples != nil {
		if err = a.examples.Close(); err != nil {
			a.Log.Warn("the calibration stream was not closed in order", "error", err)
		}
	}
	if a.archive != nil {
		if failed := a.archive.Close(); failed != nil {
			a.Log.Warn("receipts.file was not closed in order", "error", failed)
		}
	}
	if a.history != nil {
		a.history.saveProbation(a.Config())
	}
	return err
}
