package app

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

// reportedBlocks returns the size of an engine's KV pool as it tells itself, in blocks of blockSize tokens; 0 if it
// does not, or not in time.
func reportedBlocks(ctx context.Context, c *openai.Client, blockSize int) int {
	m, err := c.Scrape(ctx)
	if err != nil {
		return 0
	}
	return m.Pool(blockSize)
}

// prober asks engines for their health, and healthy ones for what is not known of them yet.
type prober struct{ app *App }

// Probe implements fleet.Prober.
func (p prober) Probe(ctx context.Context, member *fleet.Replica) error {
	name := member.Spec().Name
	r := p.app.replicas.present()[name]
	if r == nil {
		return nil // it is being retired
	}
	err := r.client.Probe(ctx)
	if errors.Is(err, engine.ErrLocal) {
		return fmt.Errorf("%w: %w", fleet.ErrUntold, err)
	}
	if err != nil {
		p.app.tokens.Checks().Away(name)
		p.app.identities.away(r.key.origin())
		r.logFailure(p.app.Log, err)
		if !member.Healthy() {
			p.app.fabric.Feed().Release(name)
		}
		return err
	}
	r.failing.Store(nil)
	p.learn(ctx, r)
	return nil
}

// learn asks a healthy engine what is not known yet: its kind, the size of its pool, how it tokenizes, its adapters.
func (p prober) learn(ctx context.Context, r *replica) {
	sp, rep := p.app.declared(r.key.name)
	if rep == nil {
		return // it is being retired
	}
	if !p.app.identities.current(r.key.origin()) {
		p.learnKind(ctx, rep, r)
	}
	if r.blocks == 0 {
		if blocks := reportedBlocks(ctx, r.client, r.key.blockSize); blocks > 0 {
			p.fit(ctx, r, blocks)
		}
	}
	p.app.tokens.Compare(ctx, r.key.specialist, r.key.name, p.app.Log)
	if len(sp.Adapters) > 0 {
		p.learnAdapters(ctx, sp.Adapters, r)
	}
}

// learnKind asks a healthy engine what it is. A kind that was left to be found out is in force from then on; one that
// contradicts the configuration is logged with the cure.
func (p prober) learnKind(ctx context.Context, rep *config.Replica, r *replica) {
	id, err := r.client.Identify(ctx, r.key.model)
	if err != nil {
		return // the next probe asks again
	}
	p.app.identities.note(r.key.origin(), id)
	p.app.measureContexts()
	if rep.Engine == engine.Auto && id.Kind != r.key.kind() {
		p.app.Log.Info("engine found out", "replica", r.key.name, "engine", id.Kind)
		p.rebuild(ctx, "engine found out", r.key.name)
		return
	}
	p.app.identities.warnOf(r.key)
}

// fit gives a replica a Gate of the size that its engine has told. Requests at the old one end there.
func (p prober) fit(ctx context.Context, r *replica, blocks int) {
	p.app.replicas.report(r, blocks)
	p.app.Log.Info("engine told its pool", "replica", r.key.name, "blocks", blocks)
	p.rebuild(ctx, "fit", r.key.name)
}

// rebuild has what an engine has told taken over by a new generation of the same configuration.
func (p prober) rebuild(ctx context.Context, why, replica string) {
	if err := p.app.rebuild(ctx); err != nil && !errors.Is(err, context.Canceled) {
		p.app.Log.Warn(why, "replica", replica, "error", err)
	}
}

// learnAdapters notes which of the specialist's adapters the engine serves, and has it load those that have a path.
func (p prober) learnAdapters(ctx context.Context, adapters []config.Adapter, r *replica) {
	models, err := r.client.Models(ctx)
	if err != nil {
		return // the next probe asks again
	}
	var loaded []string
	for _, a := range adapters {
		has := slices.ContainsFunc(models, func(m openai.Model) bool { return m.ID == a.Name })
		if !has && a.Path != "" {
			err := r.client.LoadAdapter(ctx, openai.Adapter{Name: a.Name, Path: a.Path})
			has = err == nil
			if err != nil && !errors.Is(err, openai.ErrUnsupported) {
				p.app.Log.Warn("adapter not loaded", "replica", r.key.name, "adapter", a.Name, "error", err)
			}
		}
		if has {
			loaded = append(loaded, a.Name)
		}
	}
	if err := p.app.replicas.serveAdapters(r, loaded); err != nil {
		p.app.Log.Warn("adapters", "replica", r.key.name, "error", err)
	}
}
