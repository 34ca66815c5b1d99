package app

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/internal/dialing"
	"octet/routing/fleet"
)

// origin is where an engine serves a model.
type origin struct{ url, model string }

// identities are what engines have told of themselves. They outlive generations.
type identities struct {
	log      *slog.Logger
	dial     Dialer
	kinds    engine.Table
	via      string // what this gateway calls itself to engines
	guard    *dialing.Guard
	trust    *certificates
	weights  *revisions
	contexts sync.Map // of *atomic.Int64: tokens that a request may hold, by specialist
	told     sync.Map // of *atomic.Uint32: what engines have told to serve beside chat completions, by origin
	limits   sync.Map // of *atomic.Int64: tokens that engines have told to take, by origin

	mu     sync.Mutex
	known  map[origin]openai.Identity // guarded by mu
	asked  map[origin]bool            // since the engine last failed a probe; guarded by mu
	warned map[origin]bool            // that it contradicts the configuration; guarded by mu

	measuring sync.Mutex
	cfg       *config.Config      // in force, by which contexts are measured; guarded by measuring
	replicas  map[string]*replica // of cfg, by name; guarded by measuring
}

func newIdentities(a *App, via string) *identities {
	return &identities{log: a.Log, dial: a.Dial, kinds: a.Source.Engines, via: via, guard: a.guard,
		trust: a.certificates, weights: a.revisions,
		known: map[origin]openai.Identity{}, asked: map[origin]bool{}, warned: map[origin]bool{}}
}

// of returns what the engine told last; false if it never did.
func (s *identities) of(o origin) (openai.Identity, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.known[o]
	return id, ok
}

// current returns true if the engine has told what it is since it last failed a probe.
func (s *identities) current(o origin) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[o]
}

func (s *identities) note(o origin, id openai.Identity) {
	s.weights.note(o, id.Revision, time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[o], s.asked[o] = id, true
	s.doorsOf(o).Store(uint32(id.Doors))
	s.limitOf(o).Store(int64(id.Limit))
}

// away has the engine asked again when it answers: it may be another by then.
func (s *identities) away(o origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, o)
}

// warn returns true the first time that it is called for an engine: its contradiction is logged once.
func (s *identities) warn(o origin) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.warned[o]
	s.warned[o] = true
	return first
}

// keep forgets all engines but those of cfg.
func (s *identities) keep(cfg *config.Config) {
	var stay []origin
	for i := range cfg.Specialists {
		for j := range cfg.Specialists[i].Replicas {
			stay = append(stay, originOf(&cfg.Specialists[i].Replicas[j]))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for o := range s.known {
		if !slices.Contains(stay, o) {
			delete(s.known, o)
			delete(s.asked, o)
			delete(s.warned, o)
			s.told.Delete(o)
			s.limits.Delete(o)
		}
	}
}

// limit returns the longest context that an engine which answers for the specialist has told, in tokens; 0 if none has.
// Where all are as long as their engines' pools, admission judges what is longer than one, up to the context of an
// engine that tells none. pool returns the tokens of a replica's pool, 0 if they are not known.
func (s *identities) limit(sp *config.Specialist, pool func(replica string) int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest, least := 0, config.UnknownContext
	for j := range sp.Replicas {
		rep := &sp.Replicas[j]
		if !fleet.Answers(rep.Role) {
			continue
		}
		told, room := s.known[originOf(rep)].Limit, pool(rep.Name)
		if longest = max(longest, told); told > 0 && (told < room || room == 0) {
			least = 0
		}
	}
	if longest == 0 {
		return 0
	}
	return max(longest, least)
}

func originOf(rep *config.Replica) origin { return origin{rep.URL, rep.Model} }

// resolve returns cfg with the kind that each engine of kind auto has told. Engines that have not been asked yet are
// asked, for firstLook at most; those that do not answer stay auto until their probes learn it.
func (s *identities) resolve(ctx context.Context, cfg *config.Config) *config.Config {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	var asking sync.WaitGroup
	once := map[origin]bool{} // ranks have one origin
	for i := range cfg.Specialists {
		for j := range cfg.Specialists[i].Replicas {
			if rep := &cfg.Specialists[i].Replicas[j]; !s.current(originOf(rep)) && !once[originOf(rep)] {
				once[originOf(rep)] = true
				asking.Go(func() { s.ask(ctx, cfg, rep) })
			}
		}
	}
	asking.Wait()
	found := *cfg
	found.Specialists = slices.Clone(cfg.Specialists)
	for i := range found.Specialists {
		sp := &found.Specialists[i]
		sp.Replicas = slices.Clone(sp.Replicas)
		for j := range sp.Replicas {
			sp.Replicas[j] = *s.asTold(&sp.Replicas[j])
		}
	}
	return &found
}

// asTold returns a replica with the kind that its engine has told, if that is not configured; else rep itself.
func (s *identities) asTold(rep *config.Replica) *config.Replica {
	id, ok := s.of(originOf(rep))
	if !ok || rep.Engine != engine.Auto {
		return rep
	}
	told := *rep
	told.Engine = id.Kind
	return &told
}

// ask asks one engine what it is, on a connection of its own.
func (s *identities) ask(ctx context.Context, cfg *config.Config, rep *config.Replica) {
	asked := clientConfig(cfg, rep, s.trust)
	asked.Engine, asked.Kinds, asked.Via, asked.Guard = engine.Auto, s.kinds, s.via, s.guard
	asked.Rank = engine.Rank{} // all of them are of one kind
	client, err := openai.New(s.dial.reaching(rep.URL, asked))
	if err != nil {
		return // reconcile reports what is wrong with the URL
	}
	defer client.Close() //nolint:errcheck // idle connections only
	if id, err := client.Identify(ctx, rep.Model); err == nil {
		s.note(originOf(rep), id)
	}
}

// warnOf logs, once, that an engine is of another kind than it is taken for.
func (s *identities) warnOf(k replicaKey) {
	if told := s.contradiction(k); told != "" && s.warn(k.origin()) {
		s.log.Warn(
			"the engine is of another kind than declared, so its streams are not continued: set engine to what it "+
				"is, or to auto",
			"replica", k.name, "declared", k.engine, "engine", told)
	}
}

// contradiction returns the kind that an engine tells, if that is not the one that it is taken for; empty otherwise.
func (s *identities) contradiction(k replicaKey) string {
	if id, ok := s.of(k.origin()); ok && id.Sure && id.Kind != k.kind() {
		return id.Kind
	}
	return ""
}

// commit has contexts be measured by a configuration and its replicas from now on.
func (s *identities) commit(cfg *config.Config, replicas map[string]*replica) {
	s.measuring.Lock()
	s.cfg, s.replicas = cfg, replicas
	s.measuring.Unlock()
	s.measureContexts()
}

// measureContexts updates what each specialist's requests may hold: the configured context, or what its engines have
// told.
func (s *identities) measureContexts() {
	s.measuring.Lock()
	defer s.measuring.Unlock()
	pool := func(name string) int {
		if r := s.replicas[name]; r != nil {
			return r.blocks * r.key.blockSize
		}
		return 0
	}
	for i := range s.cfg.Specialists {
		sp := &s.cfg.Specialists[i]
		limit := cmp.Or(sp.Context, s.limit(sp, pool), config.UnknownContext)
		s.contextOf(sp.Name).Store(int64(limit))
	}
}

// doorsOf returns the variable that holds what an engine serves beside chat completions, an engine.Doors.
func (s *identities) doorsOf(o origin) *atomic.Uint32 {
	doors, _ := s.told.LoadOrStore(o, new(atomic.Uint32))
	return doors.(*atomic.Uint32)
}

// limitOf returns the variable that holds the context of an engine, in tokens; 0 while it has not told it.
func (s *identities) limitOf(o origin) *atomic.Int64 {
	limit, _ := s.limits.LoadOrStore(o, new(atomic.Int64))
	return limit.(*atomic.Int64)
}

// contextOf returns the variable that holds the context of a specialist, in tokens.
func (s *identities) contextOf(specialist string) *atomic.Int64 {
	limit, _ := s.contexts.LoadOrStore(specialist, new(atomic.Int64))
	return limit.(*atomic.Int64)
}
