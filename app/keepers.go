package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"octet/adapters"
	"octet/config"
	"octet/internal/contain"
	"octet/routing/fleet"
	"octet/routing/index"
)

// adapterTick is how often it is looked at where adapters are to be.
const adapterTick = 500 * time.Millisecond

// keepers keep the adapters of all specialists. They outlive generations.
type keepers struct {
	log       *slog.Logger
	residency *adapters.Residency

	mu sync.Mutex
	by map[string]*adapters.Keeper // by specialist: those that have, or had, adapters
}

func newKeepers(log *slog.Logger, r *adapters.Residency) *keepers {
	return &keepers{log: log, residency: r, by: map[string]*adapters.Keeper{}}
}

// of returns the keeper of a specialist's adapters; nil if it never had any.
func (k *keepers) of(specialist string) *adapters.Keeper {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.by[specialist]
}

// need returns the keeper of a specialist that has adapters now; nil if it never had any.
func (k *keepers) need(sp *config.Specialist) *adapters.Keeper {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.by[sp.Name] == nil && len(sp.Adapters) > 0 {
		k.by[sp.Name] = adapters.NewKeeper(k.log.With("specialist", sp.Name), k.residency)
	}
	return k.by[sp.Name]
}

// all returns the keepers by specialist. The map is the caller's.
func (k *keepers) all() map[string]*adapters.Keeper {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.by)
}

// commit has the adapters of a configuration kept on its replicas.
func (k *keepers) commit(cfg *config.Config, replicas map[string]*replica) {
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		if keeper := k.need(sp); keeper != nil {
			keeper.Configure(adapterRules(sp), declaredAdapters(sp), membersOf(sp, replicas))
		}
	}
	for name, keeper := range k.all() {
		if !slices.ContainsFunc(cfg.Specialists, func(sp config.Specialist) bool { return sp.Name == name }) {
			keeper.Configure(adapters.Rules{}, nil, nil)
		}
	}
}

// tick has all keepers look at everything. It returns true if an edition has come into force.
func (k *keepers) tick() (moved bool) {
	for _, keeper := range k.all() {
		moved = keeper.Tick() || moved
	}
	return moved
}

func (k *keepers) close() {
	for _, keeper := range k.all() {
		keeper.Close()
	}
}

func adapterRules(sp *config.Specialist) adapters.Rules {
	r := sp.AdapterRules
	return adapters.Rules{Slots: sp.AdapterSlots, Swaps: r.SwapsPerMinute, Waiting: sp.Scheduler.MaxWaiting,
		Retry: r.RetryAfter, Grow: r.Grow, Shrink: r.Shrink,
		Hold: r.Hold, Calm: r.Calm, Patience: r.Patience, Linger: r.Linger, Timeout: r.LoadTimeout, Memory: r.Memory}
}

func declaredAdapters(sp *config.Specialist) []adapters.Adapter {
	all := make([]adapters.Adapter, len(sp.Adapters))
	for i, a := range sp.Adapters {
		all[i] = adapters.Adapter{Name: a.Name, Path: a.Path, Version: a.Version, Replicas: a.Replicas}
	}
	return all
}

// membersOf returns the replicas of a specialist as its keeper takes them.
func membersOf(sp *config.Specialist, replicas map[string]*replica) map[uint16]adapters.Member {
	all := map[uint16]adapters.Member{}
	for _, r := range replicas {
		if r.key.specialist != sp.Name {
			continue
		}
		kind := &r.served.Kind
		all[uint16(r.served.Host)] = adapters.Member{Name: r.key.name,
			Engine: &adapting{r.client, r.key.model, sp.Adapters, kind.ScalesAdapters()}, Rests: restsOf(r),
			HostTerms: adapters.HostTerms{Loads: kind.Paths.LoadAdapter != "", Lists: kind.ListsAdapters,
				MaxRunning: r.bounds.maxRunning}}
	}
	return all
}

// restsOf returns whether the engine of a replica sleeps or is put to sleep: the memory that adapters are copied to is
// not there, and an engine that is told to load one may die of it.
func restsOf(r *replica) func() bool {
	member := r.served.Fleet
	return func() bool { return member.Resting() || member.Said() == fleet.Asleep }
}

// busy returns true while the engine of a replica loads or unloads an adapter.
func (k *keepers) busy(r *replica) bool {
	keeper := k.of(r.key.specialist)
	return keeper != nil && keeper.Busy(uint16(r.served.Host))
}

// Serving implements plugins.Adapters: the replicas that have an edition, or will.
func (k *keepers) Serving(specialist, served string, among index.HostBitmap) index.HostBitmap {
	keeper := k.of(specialist)
	if keeper == nil {
		return among
	}
	hosts, known := keeper.Serving(served, func(h uint16) bool { return among.Has(index.HostID(h)) })
	if !known {
		return among
	}
	var serving index.HostBitmap
	for _, h := range hosts {
		serving.Set(index.HostID(h))
	}
	return serving
}

// keepAdapters has adapters kept where they are to be, until ctx ends. Where an edition comes into force a generation
// begins, with its version: what is remembered of the one before says nothing of it.
func (a *App) keepAdapters(ctx context.Context) {
	contain.Every(ctx, adapterTick, func(time.Time) {
		if a.keepers.tick() {
			a.discovered.rebuild()
		}
	})
}
