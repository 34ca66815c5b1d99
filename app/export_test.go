package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"octet/classifier"
	"octet/config"
	"octet/gateway/api"
	"octet/gateway/tenant/sharedrates"
	"octet/kvpool"
	"octet/slo/verify"
)

// ModelEvery is how soon another artefact is noticed.
const ModelEvery = modelEvery

// Errors of a model that gave no verdict in time.
var ErrSlow, ErrPanic = errSlow, errPanic

// Functions that tests check by themselves.
var (
	CommandFaults  = commandFaults
	LoadProbation  = loadProbation
	Opaque         = opaque
	WriteProbation = writeProbation
)

// NewTimed returns a model whose verdicts are counted.
func NewTimed(m classifier.Model, timeout time.Duration, outcomes *prometheus.CounterVec) classifier.Model {
	return &timed{m, timeout, outcomes}
}

// FollowModel calls onChange when the artefact of cfg has been replaced.
func FollowModel(ctx context.Context, cfg *config.Config, onChange func()) {
	a := new(App)
	a.cfg.Store(cfg)
	a.followModel(ctx, onChange)
}

// Rates returns what counts tenants' rates together with other gateways.
func (a *App) Rates() *sharedrates.Rates { return a.tenancy.rates }

// Verifier returns what judges answers.
func (a *App) Verifier() *verify.Verifier { return a.verifier }

// Hasher returns what hashes prompts.
func (a *App) Hasher() kvpool.Hasher { return a.specialists.hasher }

// Warn is identities.warn for the engine of a replica.
func (a *App) Warn(replica string) bool {
	return a.identities.warn(a.replicas.present()[replica].key.origin())
}

// PeersKey returns the name of a replica at all gateways.
func (a *App) PeersKey(replica string) uint64 { return a.replicas.present()[replica].peersKey() }

// Discovery returns what knows of replicas that no configuration lists.
func (a *App) Discovery() api.Finder { return registry{a} }

// ScrapedEngines returns how many pages of metrics are read for the replicas in force.
func (a *App) ScrapedEngines() int { return len(a.replicas.byEngine()) }
