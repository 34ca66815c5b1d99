package cmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"octet/config"
	"octet/engine/openai"
)

// autoEngine is the engine of a replica whose kind the configuration leaves to be found out.
const autoEngine = "auto"

// origin is where an engine serves a model.
type origin struct{ url, model string }

// identities is what engines have said of themselves. It outlives configurations.
type identities struct {
	mu     sync.Mutex
	known  map[origin]openai.Identity // guarded by mu
	asked  map[origin]bool            // since the engine was last away; guarded by mu
	warned map[origin]bool            // that it contradicts the configuration; guarded by mu
}

func newIdentities() *identities {
	return &identities{known: map[origin]openai.Identity{}, asked: map[origin]bool{}, warned: map[origin]bool{}}
}

// of returns what the engine said last; false where it never did.
func (s *identities) of(o origin) (openai.Identity, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.known[o]
	return id, ok
}

// current reports whether the engine has said what it is since it was last away.
func (s *identities) current(o origin) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[o]
}

func (s *identities) note(o origin, id openai.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[o], s.asked[o] = id, true
}

// away has the engine asked again when it is back: another may have taken its place.
func (s *identities) away(o origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, o)
}

// warn reports whether a contradiction of this engine is to be logged: the first time.
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
		}
	}
}

// limit returns the longest context that an engine of the specialist has told, in tokens; 0 where none has. Engines
// whose context is as long as their pool do not count: admission knows the pool. pool returns the tokens of a
// replica's, 0 where it is unknown.
func (s *identities) limit(sp *config.Specialist, pool func(replica string) int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := 0
	for j := range sp.Replicas {
		rep := &sp.Replicas[j]
		if told, room := s.known[originOf(rep)].Limit, pool(rep.Name); told < room || room == 0 {
			longest = max(longest, told)
		}
	}
	return longest
}

func originOf(rep *config.Replica) origin { return origin{rep.URL, rep.Model} }

// identify returns cfg with the kind that each replica of engine auto has said to be of, where it has. Engines that
// have not been asked yet are asked, for firstLook at the most; those that do not answer stay auto until their probes
// find them.
func (h *house) identify(ctx context.Context, cfg *config.Config) *config.Config {
	ctx, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	var asking sync.WaitGroup
	for i := range cfg.Specialists {
		for j := range cfg.Specialists[i].Replicas {
			if rep := &cfg.Specialists[i].Replicas[j]; !h.identities.current(originOf(rep)) {
				asking.Go(func() { h.askIdentity(ctx, cfg, rep) })
			}
		}
	}
	asking.Wait()
	h.identities.keep(cfg)
	found := *cfg
	found.Specialists = slices.Clone(cfg.Specialists)
	for i := range found.Specialists {
		sp := &found.Specialists[i]
		sp.Replicas = slices.Clone(sp.Replicas)
		for j := range sp.Replicas {
			rep := &sp.Replicas[j]
			if id, ok := h.identities.of(originOf(rep)); ok && rep.Engine == autoEngine {
				rep.Engine = id.Kind
			}
		}
	}
	return &found
}

// askIdentity asks one engine, on a connection of its own.
func (h *house) askIdentity(ctx context.Context, cfg *config.Config, rep *config.Replica) {
	asked := clientConfig(cfg, rep)
	asked.Engine, asked.Via = openai.Auto, h.via
	client, err := openai.New(h.dial.reaching(rep.URL, asked))
	if err != nil {
		return // what is wrong with the URL is said where the replica is built
	}
	defer client.Close() //nolint:errcheck // idle connections only
	if id, err := client.Identify(ctx, rep.Model); err == nil {
		h.identities.note(originOf(rep), id)
	}
}

// meet asks a healthy engine what it is. A kind that was left to be found out is in force from then on; one that the
// configuration declares and the engine contradicts is logged with the cure.
func (h *house) meet(ctx context.Context, cfg *config.Config, r *resident) {
	id, err := r.client.Identify(ctx, r.key.model)
	if err != nil {
		return // the next probe asks again
	}
	h.identities.note(r.key.origin(), id)
	h.mu.Lock()
	h.measureContexts(cfg, h.residents)
	h.mu.Unlock()
	_, rep := find(cfg, r.key.name)
	if rep.Engine == autoEngine && id.Kind != r.key.kind() {
		h.log.Info("engine found out", "replica", r.key.name, "engine", id.Kind)
		if err := h.apply(ctx, cfg); err != nil && !errors.Is(err, context.Canceled) {
			h.log.Warn("engine found out", "replica", r.key.name, "error", err)
		}
		return
	}
	h.warnOf(r.key)
}

// warnOf logs, once, that an engine is of another kind than it is taken for.
func (h *house) warnOf(k residence) {
	if says := h.contradiction(k); says != "" && h.identities.warn(k.origin()) {
		h.log.Warn(
			"the engine is of another kind than declared, so its streams are not continued: set engine to what it "+
				"is, or to auto",
			"replica", k.name, "declared", k.engine, "engine", says)
	}
}

// contradiction returns the kind that an engine says it is of, where that is not the one it is taken for; empty else.
func (h *house) contradiction(k residence) string {
	if id, ok := h.identities.of(k.origin()); ok && id.Sure && id.Kind != k.kind() {
		return id.Kind
	}
	return ""
}

// measureContexts brings up to date what each specialist's requests may hold: its context, where it is not set what its
// engines have told.
func (h *house) measureContexts(cfg *config.Config, residents map[string]*resident) {
	pool := func(replica string) int {
		if r := residents[replica]; r != nil {
			return r.blocks * r.key.blockSize
		}
		return 0
	}
	for i := range cfg.Specialists {
		sp := &cfg.Specialists[i]
		limit := cmp.Or(sp.Context, h.identities.limit(sp, pool), config.UnknownContext)
		h.contextOf(sp.Name).Store(int64(limit))
	}
}

// contextOf returns the place where the context of a specialist stands, in tokens.
func (h *house) contextOf(specialist string) *atomic.Int64 {
	limit, _ := h.contexts.LoadOrStore(specialist, new(atomic.Int64))
	return limit.(*atomic.Int64)
}
