package app

import (
	"slices"
	"sync/atomic"
	"time"

	"octet/adapters"
	"octet/app/collectors"
	"octet/app/fabric"
	"octet/app/peering"
	"octet/app/pipeline"
	"octet/config"
	"octet/engine/tokenizers"
	"octet/gateway/ensemble"
	"octet/kvpool"
	"octet/routing"
	"octet/routing/approx"
	"octet/routing/belief"
	"octet/routing/events/enginehash"
	"octet/routing/index"
	"octet/routing/plugins"
)

// specialists makes the specialists of each generation, and owns what their pipelines share over generations.
type specialists struct {
	started   time.Time
	hasher    kvpool.Hasher
	index     index.Indexer
	guesses   *approx.Index
	beliefs   *belief.Beliefs
	group     *peering.Group // nil if this gateway is alone
	residency *adapters.Residency
	keepers   *keepers
	routes    *collectors.Routes
	sessions  *plugins.Sessions
	context   func(specialist string) *atomic.Int64 // tokens that a request may hold
	books     func(specialist string) books
	scheme    func(fabric.Hashes) *enginehash.Scheme

	pipelines atomic.Pointer[map[string]pipeline.Pipeline] // by specialist, in force; replaced whole
}

func newSpecialists(a *App, hasher kvpool.Hasher) *specialists {
	s := &specialists{
		started: time.Now(), hasher: hasher, index: a.fabric.Index(), guesses: a.fabric.Guesses(),
		beliefs: a.fabric.Beliefs(), residency: a.replicas.residency, keepers: a.keepers, routes: a.series.routes,
		sessions: plugins.NewSessions(0), context: a.identities.contextOf, books: a.history.booksOf,
		scheme: a.fabric.Scheme, group: a.gateways.group,
	}
	s.pipelines.Store(&map[string]pipeline.Pipeline{})
	return s
}

// pipelinesOf builds how every specialist's requests are routed, with the tokenizers of their generation.
func (s *specialists) pipelinesOf(cfg *config.Config, prompts *tokenizers.Edition) (map[string]pipeline.Pipeline,
	error) {
	return pipeline.Build(cfg, plugins.Registry(plugins.Deps{
		Index: s.beliefs, Tiers: s.beliefs, Guesses: s.guesses, Hasher: s.hasher, Tokenizer: prompts,
		Adapters: s.keepers, Resident: s.residency,
		Sessions: s.sessions, Seed: uint64(s.started.UnixNano()),
	}))
}

// of returns the specialists of cfg as the gateway takes them.
func (s *specialists) of(cfg *config.Config, by map[string]pipeline.Pipeline,
	boards map[string]board) []*ensemble.Specialist {
	list := make([]*ensemble.Specialist, len(cfg.Specialists))
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		list[i] = s.specialist(sp, by[sp.Name], boards[sp.Name])
	}
	return list
}

func (s *specialists) specialist(sp *config.Specialist, p pipeline.Pipeline, b board) *ensemble.Specialist {
	away := s.books(sp.Name)
	serving := &specialistPipeline{shared: s, protocols: p.Protocols, route: s.routes.Of(sp.Name, p.Profiles...),
		scheme: s.scheme(fabric.PromptHashes(sp))}
	return &ensemble.Specialist{
		Name: sp.Name, BlockSize: sp.BlockSize, Context: s.context(sp.Name).Load, Draft: sp.Scheduler.SpeculativeWindow,
		Images: slices.Contains(sp.Modalities, "image"), PerImage: sp.ImageTokens,
		Adapters: adapterNames(*sp), Keeper: s.keepers.need(sp), Created: s.started.Unix(),
		Version: sp.Version, Versions: adapterVersions(sp), Fallback: sp.Fallback,
		Board: b.board, Load: b.load, Away: away.full, Shed: away.shed, Aging: sp.Scheduler.Aging, Workflow: p.Workflow,
		Pipeline: serving, Insight: serving, Evidence: serving, Grain: s.beliefs.GrainOf,
	}
}

// profiles returns the profiles in force, by specialist.
func (s *specialists) profiles() map[string][]*routing.Profile {
	now := *s.pipelines.Load()
	all := make(map[string][]*routing.Profile, len(now))
	for specialist, p := range now {
		all[specialist] = p.Profiles
	}
	return all
}
