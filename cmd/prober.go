package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/routing/fleet"
)

// reportedBlocks returns the size of an engine's KV pool as it says itself, in blocks of blockSize tokens; 0 when it
// does not, or not in time.
func reportedBlocks(ctx context.Context, c *openai.Client, blockSize int) int {
	m, err := c.Scrape(ctx)
	if err != nil {
		return 0
	}
	return m.Pool(blockSize)
}

// Probe implements fleet.Prober: the engine's health, and, once it is healthy, what is still unknown of it.
func (h *house) Probe(ctx context.Context, member *fleet.Replica) error {
	name := member.Spec().Name
	h.mu.Lock()
	r, cfg := h.residents[name], h.cfg
	h.mu.Unlock()
	if r == nil {
		return nil // on its way out
	}
	err := r.client.Probe(ctx)
	if errors.Is(err, engine.ErrLocal) {
		return fmt.Errorf("%w: %w", fleet.ErrUntold, err)
	}
	if err != nil {
		h.tokens.checks.away(name)
		h.identities.away(r.key.origin())
		r.tellFailure(h.log, err)
		if !member.Healthy() {
			h.feed.Release(name)
		}
		return err
	}
	r.failing.Store(nil)
	h.learn(ctx, cfg, r)
	return nil
}

// learn asks a healthy engine what is not known yet: what it is, the size of its pool, its adapters.
func (h *house) learn(ctx context.Context, cfg *config.Config, r *resident) {
	if !h.identities.current(r.key.origin()) {
		h.meet(ctx, cfg, r)
	}
	if r.blocks == 0 {
		if blocks := reportedBlocks(ctx, r.client, r.key.blockSize); blocks > 0 {
			h.fit(ctx, r, blocks)
		}
	}
	h.tokens.meet(ctx, r.key.specialist, r.key.name, h.log)
	if sp, _ := find(cfg, r.key.name); len(sp.Adapters) > 0 {
		h.learnAdapters(ctx, sp, r)
	}
}

// fit gives a replica a Gate of the size that its engine has told. Requests at the old one end there.
func (h *house) fit(ctx context.Context, asked *resident, blocks int) {
	name := asked.key.name
	h.mu.Lock()
	if r := h.residents[name]; r != nil && r.client == asked.client && r.blocks == 0 {
		r.reported = blocks
	}
	cfg := h.cfg
	h.mu.Unlock()
	h.log.Info("engine told its pool", "replica", name, "blocks", blocks)
	if err := h.apply(ctx, cfg); err != nil && !errors.Is(err, context.Canceled) {
		h.log.Warn("fit", "replica", name, "error", err)
	}
}

// learnAdapters notes which of the specialist's adapters the engine serves, and has it load those that have a path.
func (h *house) learnAdapters(ctx context.Context, sp *config.Specialist, r *resident) {
	models, err := r.client.Models(ctx)
	if err != nil {
		return // the next probe asks again
	}
	var loaded []string
	for _, a := range sp.Adapters {
		has := slices.ContainsFunc(models, func(m openai.Model) bool { return m.ID == a.Name })
		if !has && a.Path != "" {
			err := r.client.LoadAdapter(ctx, openai.Adapter{Name: a.Name, Path: a.Path})
			has = err == nil
			if err != nil && !errors.Is(err, openai.ErrUnsupported) {
				h.log.Warn("adapter not loaded", "replica", r.key.name, "adapter", a.Name, "error", err)
			}
		}
		if has {
			loaded = append(loaded, a.Name)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.residents[r.key.name]; now == nil || now.client != r.client {
		return // its slot may be another's by now
	}
	if err := h.residency.Replace(uint16(r.replica.Host), loaded); err != nil {
		h.log.Warn("adapters", "replica", r.key.name, "error", err)
	}
}
